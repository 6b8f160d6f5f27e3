# The look of all figures: colours, lines, frame, grid. A file given by --style is loaded after this.
set encoding utf8
# Lines 1 to 12 are samplers (plots/page/lines.c): colour-blind-safe colours of Okabe and Ito (2008) and of
# Tol, each with its own dash and mark. 13 is black, for what samplers are compared with. 14 to 21 are values in
# their order: viridis (van der Walt and Smith 2015) without its light end.
hn_colours = "0072B2 E69F00 009E73 CC79A7 D55E00 56B4E9 882255 999933 332288 44AA99 8C510A 777777 000000 " . \
    "440154 482475 404387 345E8D 29788E 20908C 22A784 44BE70"
# Raw values behind their means, and further settings of a sampler: the same colour, more transparent.
hn_faint(i) = "#B0" . word(hn_colours, i)
hn_shade(i, k) = "#" . word("50 80 A0", k) . word(hn_colours, i)
do for [i = 1:21] { set linetype i lc rgb "#" . word(hn_colours, i) lw 1.4 dt solid pt 7 ps 0.55 }
set linetype 2 dt (9,3) pt 9 ps 0.65
set linetype 3 dt (9,3,2,3) pt 5 ps 0.5
set linetype 4 dt (2,2) pt 13 ps 0.7
set linetype 5 dt (15,4) pt 11 ps 0.65
set linetype 6 dt (5,2,2,2,2,2) pt 6 ps 0.6
set linetype 7 dt (3,5) pt 4 ps 0.55
set linetype 8 dt (12,2,2,2) pt 8 ps 0.65
set linetype 9 dt (6,6) pt 12 ps 0.7
set linetype 10 dt (2,5) pt 10 ps 0.65
set linetype 11 dt (14,3,5,3) pt 15 ps 0.6
set linetype 12 dt (4,2) pt 14 ps 0.6
set linetype 15 dt (9,3) pt 9 ps 0.65
set linetype 16 dt (9,3,2,3) pt 5 ps 0.5
set linetype 17 dt (2,2) pt 13 ps 0.7
set linetype 18 dt (15,4) pt 11 ps 0.65
set linetype 19 dt (5,2,2,2,2,2) pt 6 ps 0.6
set linetype 20 dt (3,5) pt 4 ps 0.55
set linetype 21 dt solid pt 8 ps 0.65
set border 3 lw 0.6 lc rgb "#333333"
set tics nomirror out scale 0.5,0.25 textcolor rgb "#333333"
set grid xtics ytics lt -1 lw 0.35 lc rgb "#DDDDDD" dt solid, lt -1 lw 0.35 lc rgb "#EEEEEE" dt solid
set style fill transparent solid 0.16 noborder
set key samplen 3.2 spacing 1.1 textcolor rgb "#111111"
set datafile separator "\t"
set datafile missing "NaN"
# Heat maps: viridis, even in lightness and safe for the colour-blind.
set palette defined (0 "#440154", 1 "#472D7B", 2 "#3B528B", 3 "#2C728E", 4 "#21918C", 5 "#28AE80", \
    6 "#5EC962", 7 "#ADDC30", 8 "#FDE725")
