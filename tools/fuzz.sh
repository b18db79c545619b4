#!/bin/sh
# usage: fuzz.sh GO TIME: run every fuzz target of the tree, TIME each.
set -eu
go=$1 time=$2
grep -rlE '^func Fuzz' --include='*_test.go' pkg capi cmd | while read -r f; do
	grep -oE '^func Fuzz[A-Za-z0-9_]*' "$f" | awk '{print $2}' | while read -r name; do
		echo "== ${f%/*} $name"
		"$go" test "./${f%/*}" -run '^$' -fuzz "^$name\$" -fuzztime "$time" </dev/null
	done
done
