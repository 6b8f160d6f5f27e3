# Text files as C: pairs of a name and a string, for plots/page/paper.c. Job files get "jobs/" before their
# names.
FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    if (FILENAME ~ /jobs\//)
        name = "jobs/" name
    if (NR > 1)
        print "},"
    printf "{\"%s\", \"\"\n", name
}
{
    gsub(/\\/, "&&")
    gsub(/"/, "\\\\&")
    printf "\"%s\\n\"\n", $0
}
END {
    if (NR)
        print "},"
}
