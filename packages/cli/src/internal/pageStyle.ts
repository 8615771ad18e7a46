/** Eight hues that tell neighbours apart, each readable on the background of its scheme. */
const HUES = [212, 28, 140, 280, 345, 180, 55, 245]

const colours = (saturation: number, lightness: number): string =>
  HUES.map((hue, index) => `.c${index}{--c:hsl(${hue} ${saturation}% ${lightness}%)}`).join("")

/** The style of the page of a trial. Nothing in it is loaded from anywhere. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--fg:#1b1f24;--bg:#fff;--soft:#f3f4f6;--line:#d5d9df;--dim:#59636e;--good:#116329;--bad:#a40e26}
${colours(65, 27)}
@media (prefers-color-scheme:dark){:root{--fg:#e6e8eb;--bg:#14171a;--soft:#20252a;--line:#3a4149;--dim:#9aa4ae;--good:#57c773;--bad:#ff8a8a}
${colours(75, 76)}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.5 system-ui,sans-serif}
main{max-width:62rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;margin:0;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line)}
p{margin:.25rem 0}
.outcome{font-size:1.2rem;font-weight:600}
.good{color:var(--good)}.bad{color:var(--bad)}
.note{color:var(--dim);font-size:.875rem}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(14rem,1fr));gap:.5rem 1rem;margin:1rem 0}
.facts div{min-width:0}
dt{color:var(--dim);font-size:.8rem}
dd{margin:0;overflow-wrap:anywhere}
.row{display:grid;grid-template-columns:9rem 1fr;align-items:center;gap:.5rem;margin:.3rem 0}
.name{overflow:hidden;text-overflow:ellipsis;white-space:nowrap;color:var(--c,inherit);font-weight:600}
.track{position:relative;height:1.5rem;background:var(--soft);border-radius:.25rem}
.turn{position:absolute;top:.25rem;bottom:.25rem;min-width:2px;background:var(--c);opacity:.45;border-radius:.15rem}
.mark{position:absolute;top:50%;width:.75rem;height:.75rem;margin:-.375rem 0 0 -.375rem;border-radius:50%;background:var(--c);border:2px solid var(--bg)}
.ticks{display:flex;justify-content:space-between;color:var(--dim);font-size:.75rem}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}
th:first-child,td:nth-child(n+8),th:nth-child(n+8){text-align:left}
tbody th{color:var(--c)}
tfoot td{white-space:normal}
.bar{display:block;height:.3rem;background:var(--c);border-radius:.15rem;margin-left:auto}
article{border-left:.25rem solid var(--c);background:var(--soft);padding:.4rem .75rem;margin:.5rem 0;border-radius:0 .25rem .25rem 0}
article:target{outline:2px solid var(--c)}
.head strong{color:var(--c)}
.said{white-space:pre-wrap;overflow-wrap:anywhere}
.d1{margin-left:1.25rem}.d2{margin-left:2.5rem}.d3{margin-left:3.75rem}.d4{margin-left:5rem}
ul{padding-left:1.25rem}
li{overflow-wrap:anywhere}
@media (max-width:40rem){.row{grid-template-columns:1fr;gap:0}.d1{margin-left:.6rem}.d2{margin-left:1.2rem}.d3{margin-left:1.8rem}.d4{margin-left:2.4rem}}
`
