# complete.zsh SCRIPT LINE: what zsh offers at the end of LINE, one a line. Only a shell at a
# terminal completes: this one has another in a pseudo-terminal, and types there.
if [[ $1 != inner ]]; then
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "source ${0:A} inner $1"
    zpty -r -m shell text '*<ready>*' || exit 1
    zpty -w -n shell "$2"$'\t'
    zpty -r -m shell text '*<end>*' || exit 1
    # Offers stand in angle brackets.
    print -rl -- ${${(M)${(f)text//$'\r'}:#'<'*'>'}//[<>]} | grep -vx end
    exit 0
fi

autoload -Uz compinit
compinit -D -u
source $2 2>/dev/null
compdef _firstlight firstlight
# Tells what is offered, but not what is only asked for (-O, -A, -D).
compadd() {
    if [[ ${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
        local -a offers
        builtin compadd -A offers "$@"
        print -l '' '<'$^offers'>'
    fi
    builtin compadd "$@"
}
tell_end() { print '<'end'>' }
comppostfuncs=(tell_end)
stty -echo
print '<'ready'>'
