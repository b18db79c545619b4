#!/bin/sh
# usage: check-tools.sh GO CC CXX CMAKE PYTHON: name every missing tool with its Debian package, then fail.
set -u
missing=0
need() { # COMMAND WHAT PACKAGE
	command -v "$1" >/dev/null 2>&1 || { echo "missing: $1 ($2); on Debian: apt-get install $3" >&2; missing=1; }
}
go=$1 cc=$2 cxx=$3 cmake=$4 python=$5
need "$cc" 'C compiler' gcc
need "$cxx" 'C++ compiler' g++
need "$cmake" 'CMake' cmake
if command -v "$go" >/dev/null 2>&1; then
	v=$("$go" env GOVERSION)
	case $v in
	go1.2[6-9]* | go1.[3-9][0-9]* | go[2-9]*) ;;
	*) echo "too old: $go is $v; Go 1.26 or newer is needed" >&2; missing=1 ;;
	esac
else
	echo "missing: $go (Go 1.26 or newer; Debian 12's own golang package is older)" >&2; missing=1
fi
if command -v "$python" >/dev/null 2>&1; then
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || { echo "too old: $python; Python 3.9 or newer is needed" >&2; missing=1; }
	"$python" -c 'import venv, ensurepip' 2>/dev/null || { echo "missing: the venv module of $python; on Debian: apt-get install python3-venv" >&2; missing=1; }
else
	echo "missing: $python (Python 3.9 or newer); on Debian: apt-get install python3 python3-venv" >&2; missing=1
fi
exit $missing
