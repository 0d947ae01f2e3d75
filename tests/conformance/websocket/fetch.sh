#!/bin/sh
# Installs Autobahn's test suite into the folder $1, whose bin/wstest it leaves there. It needs
# Python 2.7: PYTHON27, python2.7 on PATH, one that pyenv keeps, or on Debian that of bullseye,
# unpacked beside it.
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ -x "$folder/bin/wstest" ] && exit 0

# Shims that stand for nothing are on PATH too; one unpacked runs with its own libraries.
works() {
  case "$1" in
    "$folder"/bullseye/*) return 0 ;;
    *) "$1" -c 'import ssl, zlib, ensurepip' 2>/dev/null ;;
  esac
}

find_python() {
  for found in "${PYTHON27:-}" "$(command -v python2.7 || true)" \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/2.7.*/bin/python2.7 "$folder/bullseye/usr/bin/python2.7"; do
    if [ -n "$found" ] && [ -x "$found" ] && works "$found"; then
      echo "$found"
      return
    fi
  done
  return 1
}

# Debian's own, of the release that had it last.
unpack_python() {
  command -v apt-get >/dev/null || return 1
  mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
  cd "$folder/apt"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
    "http://deb.debian.org/debian bullseye main" >sources.list
  set -- -o "Dir::Etc::sourcelist=$PWD/sources.list" -o Dir::Etc::sourceparts=- \
    -o "Dir::State::lists=$PWD/lists" -o "Dir::Cache=$PWD" -o APT::Sandbox::User=root
  apt-get "$@" -q update >/dev/null
  apt-get "$@" -q download python2.7 python2.7-minimal libpython2.7-stdlib libpython2.7-minimal \
    libpython2.7-dev python2.7-dev libpython2.7 libffi7 libssl1.1 >/dev/null
  for archive in *.deb; do dpkg -x "$archive" "$folder/bullseye"; done
}

python=$(find_python) || { (unpack_python) && python=$(find_python); } || {
  echo "No Python 2.7: put python2.7 on PATH or set PYTHON27" >&2
  exit 1
}
case "$python" in
  "$folder"/bullseye/*)
    export LD_LIBRARY_PATH="$folder/bullseye/usr/lib/$(uname -m)-linux-gnu"
    export CPATH="$folder/bullseye/usr/include/python2.7:$folder/bullseye/usr/include"
    ;;
esac
# The last virtualenv that makes environments for 2.7.
python3 -m venv "$folder/tool"
"$folder/tool/bin/pip" install -q 'virtualenv==20.21.1'
"$folder/tool/bin/virtualenv" -q -p "$python" "$folder/env"
"$folder/env/bin/pip" install -q autobahntestsuite==25.10.1
mkdir -p "$folder/bin"
{
  echo '#!/bin/sh'
  [ -z "${LD_LIBRARY_PATH:-}" ] || echo "export LD_LIBRARY_PATH='$LD_LIBRARY_PATH'"
  echo "exec '$folder/env/bin/wstest' \"\$@\""
} >"$folder/bin/wstest"
chmod +x "$folder/bin/wstest"
