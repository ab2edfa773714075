#!/bin/sh
# wrapper.sh PROGRAM [ARGUMENT…]: becomes another program, as launch scripts do.
if [ $# -eq 0 ]; then
    echo "usage: wrapper.sh PROGRAM [ARGUMENT…]" >&2
    exit 125
fi
exec "$@"
