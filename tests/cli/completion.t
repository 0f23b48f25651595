#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Completion: what bash offers, and that zsh and fish offer the same.
. tests/lib-shell/tap.sh
needs_zstd
B=$(realpath "${B:-build}")
TMIGR=$B/tmigr
PATH=$B:$PATH
here=$PWD
# shellcheck source=completion/tmigr.bash
. completion/tmigr.bash

# Class lists of a machine with CPUs of two capacities.
export TMIGR_COMPLETION_SYSFS=$TMP/sysfs
for i in 0 1 2 3 4 5 6 7; do
	mkdir -p "$TMP/sysfs/cpu$i"
	echo $((i < 4 ? 442 : 1024)) >"$TMP/sysfs/cpu$i/cpu_capacity"
done
cpus="0-3 4-7 0 1 2 3 4 5 6 7"

one_line() {
	paste -sd ' ' -
}
# What bash offers for the last of the words, sorted; bash breaks words at "=".
offered() { # PROGRAM WORD...
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_tmigr "$B/$1" 2>"$TMP/err"
	printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | one_line
	[ ! -s "$TMP/err" ] || cat "$TMP/err"
}
offers() { # WANT PROGRAM WORD...
	local want
	want=$(printf '%s\n' $1 | LC_ALL=C sort | one_line)
	shift
	is "$(printf '%s ' "${@//$TMP/TMP}")<TAB>" "$(offered "$@")" "$want"
}

verbs=$("$TMIGR" --help | sed -n '/^Verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p')
offers "$verbs --help --version" tmigr ''
offers "report run" tmigr r
offers "$verbs" tmigr help ''
# Every option of every help, and none that is not there.
for verb in $verbs; do
	[ "$verb" != help ] || continue
	# What follows two blanks is explanation.
	offers "$("$TMIGR" "$verb" --help | grep -E '^ {2,6}-' | sed -E 's/([^ ]) {2,}.*/\1/' | grep -oE -- '(^ +|, )--?[a-zA-Z][a-z-]*' | grep -oE -- '-.*')" \
		tmigr "$verb" -
done
offers "$("$B/tmigrd" --help | grep -E '^  -' | grep -oE -- '(^ +|, )--?[a-zA-Z][a-z-]*' | grep -oE -- '-.*')" tmigrd -

offers "csv json perfetto openmetrics" tmigr export -f ''
offers "perfetto" tmigr export --format = p
offers "migrator migrator-states migrator-segments metrics" tmigr export -t m
offers "bpf ftrace auto" tmigr run --source ''
offers "bpf ftrace auto" tmigrd --source ''
offers "cpu class residency holding" tmigr top --sort ''
offers "none class hierarchy" tmigr top --group ''
offers "on off" tmigr run --timer-migration ''
offers "runs" tmigr compare --csv = ''
offers "LITTLE= mid= big=" tmigr run --class ''
offers "$cpus" tmigr run --class LITTLE =
offers "0-3 0" tmigr run --class LITTLE = 0
offers "$cpus" tmigr run --offline ''
offers "0 1 2 3 4 5 6 7" tmigr run --housekeeping ''
offers "lost_records lost_updates" tmigr report --fail-if lost
offers "" tmigr run -d ''
offers "" tmigr mark ''
offers "basename" tmigr run -d 5 --class LITTLE = 0-3 -o x -- basenam
offers "basename" tmigr run -n 3 basenam
cp -r tests/fixtures/runs/compare "$TMP/results"
mkdir "$TMP/results/lone"
echo '{
 "label": "mainline",
}' >"$TMP/results/lone/run.json"
cd "$TMP" || exit 1
offers "mainline split unaware" tmigr run -l ''
offers "mainline" tmigr compare results/lone results/nothing --baseline ''
offers "results/lone results/split results/unaware" tmigr compare results/
offers "results" tmigr report res
cd "$here" || exit 1

# The values are those that the program takes: what is offered is not wrong usage.
for v in $(offered tmigr top --sort ''); do
	run 2 "$TMIGR" top --sort "$v" --nonsense
	err_has "--sort $v is one" "nonsense"
done
for v in $(offered tmigr export -t ''); do
	run 0 "$TMIGR" export -f csv -t "$v" demo/events.tmr
done
for v in $(offered tmigr run --metric ''); do
	run 2 "$TMIGR" run --metric "$v" --nonsense
	err_has "--metric $v is one" "nonsense"
done
for f in $(offered tmigr report --fail-if ''); do
	"$TMIGR" report --fail-if "$f>1e9" demo/events.tmr >"$TMP/out" 2>"$TMP/err"
	is "--fail-if $f is one" "$? $(grep -c 'no figure' "$TMP/err")" "$([ "$f" = exit_status ] && echo 1 || echo 0) 0"
done

# The others: the same words, as they give them.
lines=("tmigr ex" "tmigr export -f " "tmigr top --sort=" "tmigr run --class LITTLE=" "tmigr run --offline "
	"tmigr compare --" "tmigr help " "tmigr run --housekeeping 1")
mkdir "$TMP/installed"
cp completion/tmigr.bash "$TMP/installed/tmigr"
for shell in zsh fish; do
	sed "s|@BASHCOMPDIR@|$TMP/installed|" "completion/tmigr.$shell" >"$TMP/installed/$shell"
done
in_bash() {
	local line=$1 w=() head=
	read -ra w <<<"$line"
	[ "${line% }" = "$line" ] || w+=('')
	case ${w[-1]} in
	*=*) head=${w[-1]%%=*}= && w=("${w[@]:0:${#w[@]}-1}" "${w[-1]%%=*}" "=") ;;
	esac
	offered "${w[@]}" | tr ' ' '\n' | sed "s/^/$head/" | one_line
}
if command -v fish >/dev/null; then
	for l in "${lines[@]}"; do
		is "fish: $l<TAB>" "$(fish --no-config -c "source '$TMP/installed/fish'; complete -C '$l'" 2>&1 | LC_ALL=C sort | one_line)" "$(in_bash "$l")"
	done
	is "fish: a folder ends in /" "$(fish --no-config -c "source '$TMP/installed/fish'; complete -C 'tmigr report tests/fix'" 2>&1)" "tests/fixtures/"
else
	skip "fish offers the same" "no fish"
fi
if command -v zsh >/dev/null; then
	# As zsh's _bash_complete asks; the line editor then takes those that begin as the word does.
	cat >"$TMP/ask" <<-'EOF'
		autoload -U compinit bashcompinit
		compinit -u -D
		bashcompinit
		source $1
		shift
		words=("$@") CURRENT=$#words COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		compgen -F _tmigr -- "${words[CURRENT]}"
	EOF
	for l in "${lines[@]}"; do
		w=()
		read -ra w <<<"$l"
		[ "${l% }" = "$l" ] || w+=('')
		is "zsh: $l<TAB>" "$(zsh -f "$TMP/ask" "$TMP/installed/tmigr" "${w[@]}" 2>&1 |
			grep -e "^${w[-1]}" | LC_ALL=C sort | one_line)" "$(in_bash "$l")"
	done
	check "zsh takes its file" zsh -n "$TMP/installed/zsh"
else
	skip "zsh offers the same" "no zsh"
fi
done_testing
