"""The machine on which figures were taken: without it they mean nothing."""

import os
import platform


def description():
    """One line: processor, cores, virtual or not, kernel, load averages of 1, 5, 15 minutes."""
    model, virtual = processor()
    kind = "virtual machine" if virtual else "no hypervisor seen"
    cores = len(os.sched_getaffinity(0))
    load = " ".join(f"{value:.2f}" for value in os.getloadavg())
    return f"{model}, {cores} cores, {kind}, Linux {platform.release()}, load {load}"


def processor():
    """The model's name, and whether the processor says that a hypervisor is below it."""
    model, virtual = "unknown processor", False
    with open("/proc/cpuinfo") as file:
        for line in file:
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                model = value.strip()
            if key.strip() == "flags":
                virtual = "hypervisor" in value.split()
    return model, virtual


def stolen_and_total():
    """Clock ticks of all cores since boot: those that the hypervisor gave to others, and all."""
    with open("/proc/stat") as file:
        ticks = [int(field) for field in file.readline().split()[1:]]
    # user nice system idle iowait irq softirq steal; guest time, behind, is part of user's.
    return ticks[7], sum(ticks[:8])
