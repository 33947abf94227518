#compdef tenantry
# Completes the commands and flags of tenantry in zsh: source <(tenantry completion zsh)
_tenantry() {
    local -a found
    local word help
    while IFS=$'\t' read -r word help; do
        found+=("${word//:/\\:}:$help")
    done < <("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( $#found )); then
        _describe -t commands tenantry found
    else
        _files
    fi
}
compdef _tenantry tenantry
