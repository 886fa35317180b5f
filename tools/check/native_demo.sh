#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# "make demo VM=no" in a guest that is made to look like a machine whose own
# kernel can do it. Runs in the build environment, after "make guest".
set -u

out=out/check/native
# what was built is there already: -o all
run='cd /opt/mpdpa/src &&
	make -o all demo VM=no </dev/null >/tmp/log 2>&1; status=$?
	cat /tmp/log; cp -r out/demo /results/
	[ -e /sys/module/mptcp_dpa ] || touch /results/gone; exit $status'

mkdir -p "$out"
tools/check/native_overlay.sh "$out/overlay" || exit 1
rm -rf "$out/results"
tools/vm/guest run --clock virtual --memory 3072 \
	--overlay "$out/overlay" --results "$out/results" --timeout 1200 \
	-- env NO_COLOR=1 bash -c "$run"
status=$?

case_of() { # NUMBER NAME COMMAND...
	local line="$1 $2"
	shift 2
	if "$@"; then echo "ok $line"; else echo "not ok $line"; fi
}

case_of 1 "make demo VM=no ends well" test $status = 0
case_of 2 "and writes its figures" python3 -c '
import json, sys
runs = json.load(open(sys.argv[1]))["runs"]
wanted = ["tcp", "mptcp", "threshold", "mpdpa"]
sys.exit([run["protocol"] for run in runs] != wanted or not all(run["delivered_bytes"] for run in runs))
' "$out/results/demo/results.json"
case_of 3 "and its report" grep -q "<svg" "$out/results/demo/report.html"
case_of 4 "and takes its module away" test -e "$out/results/gone"
exit $status
