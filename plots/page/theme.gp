# Theme of all figures. Eight lines that differ in colour, dash and mark, so that any one of the three is
# enough: the colours of Okabe and Ito (2008), safe for the colour-blind, in an order whose first ones
# differ in grey too. Black comes last: references are drawn in it. `lt i` draws line i.
set encoding utf8
set linetype 1 lc rgb "#0072B2" lw 1.4 dt solid pt 7 ps 0.55
set linetype 2 lc rgb "#E69F00" lw 1.4 dt (9,3) pt 9 ps 0.65
set linetype 3 lc rgb "#009E73" lw 1.4 dt (9,3,2,3) pt 5 ps 0.5
set linetype 4 lc rgb "#CC79A7" lw 1.4 dt (2,2) pt 13 ps 0.7
set linetype 5 lc rgb "#D55E00" lw 1.4 dt (15,4) pt 11 ps 0.65
set linetype 6 lc rgb "#56B4E9" lw 1.4 dt (5,2,2,2,2,2) pt 6 ps 0.6
set linetype 7 lc rgb "#777777" lw 1.4 dt (3,5) pt 4 ps 0.55
set linetype 8 lc rgb "#000000" lw 1.4 dt (12,2,2,2) pt 8 ps 0.65
set linetype cycle 8
set border 3 lw 0.6 lc rgb "#333333"
set tics nomirror out scale 0.5,0.25 textcolor rgb "#333333"
set grid xtics ytics lt -1 lw 0.35 lc rgb "#DDDDDD" dt solid, lt -1 lw 0.35 lc rgb "#EEEEEE" dt solid
set style fill transparent solid 0.16 noborder
set key samplen 3.2 spacing 1.1 textcolor rgb "#111111"
set datafile separator "\t"
set datafile missing "NaN"
# The same colours for raw values behind their means.
hn_faint_1 = "#B00072B2"; hn_faint_2 = "#B0E69F00"; hn_faint_3 = "#B0009E73"; hn_faint_4 = "#B0CC79A7"
hn_faint_5 = "#B0D55E00"; hn_faint_6 = "#B056B4E9"; hn_faint_7 = "#B0777777"; hn_faint_8 = "#B0000000"
# Heat maps: viridis (van der Walt and Smith 2015), even in lightness and safe for the colour-blind.
set palette defined (0 "#440154", 1 "#472D7B", 2 "#3B528B", 3 "#2C728E", 4 "#21918C", 5 "#28AE80", \
    6 "#5EC962", 7 "#ADDC30", 8 "#FDE725")
