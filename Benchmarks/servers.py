"""Servers from Debian that keep to themselves: all their files are in one folder, and nobody but
this machine can reach them."""

import os

PORT = 18080
NGINX = """daemon off; {more} pid {folder}/nginx.pid; error_log stderr;
events {{}} http {{ access_log off; server {{ listen 127.0.0.1:{port}; root {folder}; }} }}"""


def redis_socket(folder):
    return os.path.join(folder, "redis.sock")


def redis(folder):
    """The command of a server at a socket of that folder."""
    return ["redis-server", "--port", "0", "--unixsocket", redis_socket(folder), "--save", "",
            "--dir", folder]


def nginx(folder, more=""):
    """The command of a server at PORT that hands out the folder's files; `more` is put into its
    configuration."""
    configuration = os.path.join(folder, "nginx.conf")
    with open(configuration, "w") as file:
        file.write(NGINX.format(folder=folder, port=PORT, more=more))
    return ["nginx", "-c", configuration, "-e", "stderr"]
