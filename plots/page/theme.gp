# The look of all figures: colours, lines, frame, grid. A file given by --style is loaded after this.
set encoding utf8
# Colours by number: 1 Uniform; 2 to 17 the other samplers, first colour-blind-safe ones of Okabe and Ito (2008) and
# of Tol, the light ones darkened; 18 what is no sampler; 19 to 26 values in their order: viridis (van der Walt and Smith
# 2015) without its light end; 27 to 31 kinds of things. Each has a contrast of 3 to 1 with white.
hn_colours = "000000 0072B2 C48800 009E73 CA74A4 D55E00 119ACF 882255 8F8F2E 332288 36A39B 8C510A " . \
    "D81BB0 3D5AFE 4E9A06 E0245E 34501F 777777 " . \
    "440154 471E70 433A81 3B528A 31688D 287D8E 21928C 22A685 " . \
    "5B6C8F B5443C 1F6F5C 9B7FB8 6B4A3A"
hn_colour(i) = "#" . word(hn_colours, i)
# Styles are line types 1 to 40: dashes, marks and sizes of marks come round after 12 and 13.
hn_dashes = "solid (9,3) (9,3,2,3) (2,2) (15,4) (5,2,2,2,2,2) (3,5) (12,2,2,2) (6,6) (2,5) (14,3,5,3) (4,2)"
hn_marks = "7 9 5 13 11 6 4 8 12 10 15 14 3"
hn_sizes = ".55 .65 .5 .7 .65 .6 .55 .65 .7 .65 .6 .6 .6"
do for [i = 1:40] {
    eval sprintf("set linetype %d lw 1.4 dt %s pt %s ps %s", i, word(hn_dashes, (i - 1) % 12 + 1), \
        word(hn_marks, (i - 1) % 13 + 1), word(hn_sizes, (i - 1) % 13 + 1))
}
# The mark of a style, filled and open, for discs and rings; the star, which has no filled form, is a circle.
hn_mark(i) = int(word(hn_marks, (i - 1) % 13 + 1))
hn_filled(i) = hn_mark(i) < 4 ? 7 : 2 * (hn_mark(i) / 2) + 1
hn_open(i) = hn_filled(i) - 1
set border 3 lw 0.6 lc rgb "#333333"
set tics nomirror out scale 0.5,0.25 textcolor rgb "#333333"
set grid xtics ytics lt -1 lw 0.35 lc rgb "#DDDDDD" dt solid, lt -1 lw 0.35 lc rgb "#EEEEEE" dt solid
set style fill transparent solid 0.16 noborder
set style textbox opaque noborder margins 0.1,0.1
set key samplen 3.2 spacing 1.1 textcolor rgb "#111111"
set datafile separator "\t"
set datafile missing "NaN"
# Heat maps: viridis, even in lightness and safe for the colour-blind.
set palette defined (0 "#440154", 1 "#472D7B", 2 "#3B528B", 3 "#2C728E", 4 "#21918C", 5 "#28AE80", \
    6 "#5EC962", 7 "#ADDC30", 8 "#FDE725")
