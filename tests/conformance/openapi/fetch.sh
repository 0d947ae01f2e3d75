#!/bin/sh
# Installs schemathesis into the folder $1, whose bin/schemathesis it leaves there.
set -eu
[ -x "$1/bin/schemathesis" ] && exit 0
python3 -m venv "$1"
"$1/bin/pip" install -q schemathesis==4.32.5
