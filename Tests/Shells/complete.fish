# complete.fish SCRIPT LINE: what fish offers at the end of LINE, one a line.
source $argv[1]
complete --do-complete="$argv[2]" | string replace -r '\t.*' ''
true
