#compdef tmigr tmigrd
# SPDX-License-Identifier: GPL-2.0-or-later
# What bash's completion knows, by zsh's own bashcompinit.
autoload -U bashcompinit
bashcompinit
source '@BASHCOMPDIR@/tmigr'
_bash_complete -o default -F _tmigr
