# complete.bash SCRIPT WORD...: what bash offers for the last of the words, one a line. As bash
# would divide them: --option=value is three words.
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
# The function that the script has registered for the command.
$(complete -p "$1" | sed 's/.* -F \([^ ]*\) .*/\1/')
printf '%s\n' "${COMPREPLY[@]}"
