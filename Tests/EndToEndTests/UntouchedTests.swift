import EndToEndSupport
import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEnd {
    /// A recorded program finds everything as without recording.
    @Suite struct Untouched {
        private let scratch: Scratch

        init() throws { scratch = try Scratch() }

        /// Records the same command, with its streams and directory.
        private func recorded(
            _ command: Command, options: [String] = ["--quiet"]
        ) throws -> Command {
            var recorded = command
            recorded.words = try Firstlight.recording(
                command.words, to: scratch("recording"), options: options
            ).words
            return recorded
        }

        @Test func standardInput() throws {
            var cat = Command(["cat"])
            cat.input = .text(String(repeating: "a line to copy\n", count: 100_000))
            #expect(try recorded(cat).run() == cat.run())
            #expect(try recorded(Command(["cat"])).run().output == "")
        }

        @Test func standardErrorIsApart() throws {
            let command = Command(["sh", "-c", "echo out; echo err >&2; exit 5"])
            let expected = Finished(end: .exited(5), output: "out\n", error: "err\n")
            #expect(try recorded(command).run() == expected)
            var loud = try recorded(command)
            loud.words.removeAll { $0 == "--quiet" }
            let result = try loud.run()
            #expect(result.output == "out\n" && result.status == 5)
            #expect(result.error.hasPrefix("err\n") && result.error.contains("PHASE"))
        }

        @Test func argumentsAreNotInterpreted() throws {
            let words = ["printf", "[%s]", "--quiet", "-o", "x", "", "a b", "--", "*", "é\n"]
            let result = try recorded(Command(words)).run()
            #expect(result.output == "[--quiet][-o][x][][a b][--][*][é\n]")
            let bare = try Firstlight.command(
                ["record", "-o", scratch("recording"), "--quiet", "printf", "%s", "--quiet"])
            #expect(try bare.run().output == "--quiet")
        }

        /// Words need not be UTF-8: neither arguments, nor the program's path, nor PATH.
        @Test func argumentsAreBytes() throws {
            let script = """
                folder=$1/$(printf 'caf\\351'); shift
                mkdir -p "$folder"; ln -sf "$(command -v cat)" "$folder/copy"
                printf whole >"$folder/text"
                PATH=$folder:$PATH; export PATH
                { "$@" printf '[%s]' "$(printf 'a\\351b')"; "$@" copy "$folder/text"
                  "$@" "$folder/copy" "$folder/text"; } | od -An -tx1
                """
            let words = ["sh", "-c", script, "sh", scratch.folder]
            let alone = try Command(words).run()
            #expect(alone.output.hasPrefix(" 5b 61 e9 62 5d 77") && alone.error == "", "\(alone)")
            let recorder = try Firstlight.recording([], to: scratch("recording")).words
            #expect(try Command(words + recorder).run() == alone)
        }

        @Test func environmentAndDirectory() throws {
            let odd = ["ODD": "a=b c\nd", "EMPTY": "", "COLUMNS": "7"]
            let env = Command(["env", "-0"], adding: odd)
            let alone = Set(try env.run().output.split(separator: "\0"))
            #expect(Set(try recorded(env).run().output.split(separator: "\0")) == alone)
            #expect(alone.contains("ODD=a=b c\nd"))
            var pwd = Command(["pwd"])
            pwd.directory = scratch.folder
            #expect(try recorded(pwd).run() == pwd.run())
        }

        /// Signal masks, limits, descriptors, session, priorities and more, as a program sees them
        /// at its start. `preparation` is what a shell does before.
        @Test(
            .needs("perl"),
            arguments: [
                "", "trap '' INT PIPE HUP USR1",
                "ulimit -c 0; ulimit -n 200; ulimit -s 4096; umask 027",
                "exec 7</dev/null 9>&2", "nice -n 3 true", "trap '' TRAP CHLD ALRM URG",
                "exec 0<&- 1>&2",
            ])
        func theProgramsEnvironmentIsUnchanged(preparation: String) throws {
            try scratch.write(Self.inspection, to: "inspect.pl")
            let inspect = ["perl", scratch("inspect.pl")]
            func run(_ words: [String]) throws -> [Substring] {
                let script = "\(preparation.isEmpty ? ":" : preparation)\nexec \"$@\""
                let result = try Command(["sh", "-c", script, "sh"] + words).run()
                #expect(result.status == 0)
                return (result.output + result.error).split(separator: "\n")
            }
            let alone = try run(inspect)
            let watched = try run(
                try Firstlight.recording(inspect, to: scratch("recording")).words)
            #expect(alone.count > 30)
            let difference = watched.difference(from: alone)
            #expect(difference.isEmpty, "\(difference)")
        }

        private static let inspection = #"""
            use POSIX ();
            open my $status, "<", "/proc/self/status" or die;
            my $fields = "Sig(Blk|Ign|Cgt)|ShdPnd|SigPnd|Threads|Umask|Cap\\w+|NoNewPrivs|Seccomp|"
                . "Groups|Uid|Gid|Cpus_allowed|Mems_allowed|Speculation_Store_Bypass";
            while (<$status>) {
                next unless /^($fields):/;
                # The C library's own two signals, 32 and 33, which whoever spawned us ignores.
                s/(\w+)$/sprintf "%016x", hex($1) & ~0x180000000/e if /^Sig(Blk|Ign|Cgt)/;
                # Our handler for SIGURG, or for SIGWINCH where that is ignored: it shows here, and
                # nowhere else.
                s/(\w+)$/sprintf "%016x", hex($1) & ~0x8400000/e if /^Sig(Cgt|Ign)/;
                print;
            }
            close $status;
            open my $limits, "<", "/proc/self/limits" or die;
            print while <$limits>;
            close $limits;
            opendir my $folder, "/proc/self/fd" or die;
            my $own = POSIX::dup(2);
            POSIX::close($own);
            for my $number (sort { $a <=> $b } grep { /^\d+$/ } readdir $folder) {
                my $target = readlink "/proc/self/fd/$number";
                next if $target =~ m{/proc/\d+/fd$};
                $target =~ s/\d+|firstlight-stream-\w+/N/g;
                print "descriptor $number $target\n";
            }
            print "group ", getpgrp() == $$ || getpgrp() == getppid() ? "leader's" : "other", "\n";
            print "nice ", POSIX::nice(0), " ", getpriority(0, 0), "\n";
            for my $file ("personality", "oom_score_adj", "timerslack_ns", "cgroup", "wchan") {
                next unless open my $text, "<", "/proc/self/$file";
                print "$file ", <$text>, "\n";
            }
            """#

        /// Only the memory shared with the recorder is visible in a launched program. All other
        /// mappings have the same files, rights and number of pieces.
        @Test(.needs("perl"), arguments: ["signal", "ptrace"])
        func onlySharedMemoryIsToBeSeen(capture: String) throws {
            let script = """
                open my $maps, "<", "/proc/self/maps" or die;
                my (@lines, $end);
                while (<$maps>) {
                    my ($from, $to) = /^(\\w+)-(\\w+)/;
                    # A page of it is the process's own.
                    my $is_within = defined $end && $from eq $end && !m{[/[]};
                    $end = /memfd:firstlight/ || $is_within ? $to : undef;
                    next if defined $end;
                    chomp; s/^\\S+ (\\S+) \\S+ \\S+ \\S+\\s*/$1 /; push @lines, "$_\\n";
                }
                # Where they are is another matter: ours is among them.
                print sort @lines;
                """
            // At fixed addresses, if this is allowed, so that neighbours merge in the same way.
            var perl = Command(["setarch", "-R", "perl", "-e", script])
            if try perl.run().status != 0 { perl = Command(["perl", "-e", script]) }
            let alone = try perl.run()
            let watched = try recorded(perl, options: ["--quiet", "--capture", capture]).run()
            #expect(alone.status == 0 && alone.output.contains("[vdso]"))
            #expect(watched == alone)
        }

        /// A program may use the trap signal as it likes, before `main` and in it.
        @Test func signalsReachTheirHandlers() throws {
            let signals = Command([try Setup.fixture("signals")])
            let alone = try signals.run()
            #expect(alone.status == 0, "\(alone)")
            #expect(try recorded(signals).run() == alone)
        }

        /// The report has its own terminal.
        @Test func terminalsShowColoursUnlessTheyShouldNot() throws {
            _ = try recorded(Command([try Setup.fixture("static")])).run()
            func shown(_ variables: [String: String]) throws -> String {
                let terminal = try Terminal()
                var report = try Firstlight.command(
                    ["report", scratch("recording")], adding: variables)
                report.output = terminal.user
                #expect(try report.run().status == 0)
                return terminal.shown()
            }
            #expect(try shown(["TERM": "xterm", "NO_COLOR": ""]).contains("\u{1b}["))
            #expect(!(try shown(["TERM": "xterm", "NO_COLOR": "1"]).contains("\u{1b}")))
            let piped = try Firstlight.command(
                ["report", scratch("recording")], adding: ["TERM": "xterm", "COLUMNS": "60"])
            let text = try piped.run().output
            #expect(!text.contains("\u{1b}"))
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 60 }, "\(text)")
        }
    }
}
