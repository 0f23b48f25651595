# SPDX-License-Identifier: GPL-2.0-or-later
# What bash's completion knows; nothing where there is no bash.
function __tmigr_complete
    type -q bash; or return
    bash --norc -c '
        files=
        compopt() { [ "$2" != filenames ] || files=1; }
        complete() { :; }
        source "$0" || exit
        COMP_WORDS=("$@")
        COMP_CWORD=$(($# - 1))
        _tmigr "$1"
        for c in "${COMPREPLY[@]}"; do
            [ "$files" ] && [ -d "$c" ] && c=$c/
            printf "%s\n" "$c"
        done' '@BASHCOMPDIR@/tmigr' (commandline -opc) (commandline -ct)
end
complete -c tmigr -f -a '(__tmigr_complete)'
complete -c tmigrd -f -a '(__tmigr_complete)'
