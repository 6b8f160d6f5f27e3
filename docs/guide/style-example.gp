# An example for `hardneg plot --style`: the user's gnuplot commands, which come after the theme
# (plots/page/theme.gp) and before the figure. This one is for a printed page in grey.
#
#   hardneg plot results/demo --term pdf --style docs/guide/style-example.gp

# Styles of lines, by number: width, dash, mark, size of the mark. Uniform has the first, the other samplers follow in
# the order of `hardneg list samplers`.
set linetype 1 lw 1.2 dt solid pt 7 ps 0.5
set linetype 2 lw 1.2 dt (9,3) pt 9 ps 0.6
set linetype 3 lw 1.2 dt (2,2) pt 5 ps 0.5
set linetype 4 lw 1.2 dt (9,3,2,3) pt 13 ps 0.7
set linetype 5 lw 1.2 dt (15,4) pt 11 ps 0.6

# Colours: Uniform, eleven for the other samplers, one for what is no sampler, eight for values in their order. Dots of
# single batches and faded lines are made of them.
hn_colours = "000000 555555 888888 333333 777777 929292 222222 666666 444444 808080 111111 777777 " . \
    "3D3D3D 5E5E5E 727272 4D4D4D 2B2B2B 777777 " . \
    "000000 1C1C1C 323232 464646 5A5A5A 6E6E6E 808080 929292 " . \
    "202020 6A6A6A 404040 8A8A8A 555555"

# Bands, grid, heat maps.
set style fill transparent solid 0.10 noborder
unset grid
set palette gray negative
