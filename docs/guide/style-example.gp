# An example for `hardneg plot --style`: the user's gnuplot commands, which come after the theme
# (plots/page/theme.gp) and before the figure. This one is for a printed page in grey.
#
#   hardneg plot results/demo --term pdf --style docs/guide/style-example.gp

# Lines: `lt 1` to `lt 8`, in the order of the key. Colour, width, dash, mark, size of the mark.
set linetype 1 lc rgb "#000000" lw 1.2 dt solid pt 7 ps 0.5
set linetype 2 lc rgb "#555555" lw 1.2 dt (9,3) pt 9 ps 0.6
set linetype 3 lc rgb "#888888" lw 1.2 dt (2,2) pt 5 ps 0.5
set linetype 4 lc rgb "#333333" lw 1.2 dt (9,3,2,3) pt 13 ps 0.7
set linetype 5 lc rgb "#777777" lw 1.2 dt (15,4) pt 11 ps 0.6

# Dots of single batches, behind the means.
hn_faint_1 = "#C0000000"; hn_faint_2 = "#C0555555"; hn_faint_3 = "#C0888888"

# Bands, grid, heat maps.
set style fill transparent solid 0.10 noborder
unset grid
set palette gray negative
