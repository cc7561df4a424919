"""The style of the page, in light and dark."""

from __future__ import annotations

from typing import Final

STYLE: Final = """\
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --paper: #ffffff; --panel: #f6f8fa;
  --rule: #d1d9e0; --curve: #0969da; --under: #0969da22; --mark: #bc4c00; --error: #d1242f;
  --warning: #9a6700; --info: #0969da; --hint: #1a7f37; --hit: #fff1c2 }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --paper: #0d1117;
  --panel: #161b22; --rule: #3d444d; --curve: #58a6ff; --under: #58a6ff22; --mark: #f0883e;
  --error: #f85149; --warning: #d29922; --info: #58a6ff; --hint: #3fb950; --hit: #4b3a00 } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 1180px; padding: 24px; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif }
h1 { font-size: 26px; margin: 0 } h2 { font-size: 20px; margin: 40px 0 8px; overflow-wrap: anywhere }
h3 { font-size: 17px; margin: 28px 0 8px; overflow-wrap: anywhere }
h4 { font-size: 14px; margin: 22px 0 6px }
h3.name, code, pre, td.name, .live { font-family: ui-monospace, monospace }
a { color: var(--info); text-decoration: none } a:hover { text-decoration: underline }
.soft, .kind { color: var(--soft) } .kind { font-size: 12px }
section.kernel { border: 1px solid var(--rule); border-radius: 8px; padding: 4px 20px 20px;
  margin: 20px 0 }
.scroll { overflow: auto; max-width: 100%; max-height: 85vh }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100% }
th, td { padding: 5px 10px; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap }
th { font-weight: 600; color: var(--soft); font-size: 13px }
th.name, td.name { text-align: left } th.name { width: 45% }
td.name { white-space: normal; overflow-wrap: anywhere;
  min-width: 12em }
dl.tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 8px;
  margin: 12px 0 }
dl.tiles > div { background: var(--panel); border-radius: 6px; padding: 8px 12px }
dl.tiles dt { font-size: 13px; color: var(--soft) } dl.tiles dd { margin: 0 }
dl.tiles .value { font-size: 20px; font-variant-numeric: tabular-nums }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 12px }
figure { margin: 0 } figcaption { font-size: 13px; color: var(--soft) }
svg.chart { width: 100%; height: auto; display: block; font: 11px system-ui, sans-serif }
.chart text { fill: var(--soft) } .chart .grid { stroke: var(--rule); stroke-width: 1 }
.chart .curve { fill: none; stroke: var(--curve); stroke-width: 1.6; stroke-linejoin: round }
.chart .under, .chart .bar { fill: var(--under) } .chart .bar { fill: var(--curve); opacity: .55 }
.chart .bar.here { fill: var(--mark); opacity: 1 }
.chart .here { fill: var(--mark) } .chart text.here { font-weight: 600 }
.chart line.here { stroke: var(--mark); stroke-dasharray: 3 3 }
.live { font-size: 13px } .live span { display: inline-block; background: var(--panel); border-radius: 4px;
  padding: 1px 7px; margin: 2px 4px 2px 0 }
ul.steps { margin: 8px 0; padding-left: 20px }
article.finding { border-left: 4px solid var(--rule); padding: 2px 0 2px 12px; margin: 14px 0 }
article.error { border-color: var(--error) } article.warning { border-color: var(--warning) }
article.info { border-color: var(--info) } article.hint { border-color: var(--hint) }
.error .severity { color: var(--error) } .warning .severity { color: var(--warning) }
.info .severity { color: var(--info) } .hint .severity { color: var(--hint) } .severity { font-weight: 600 }
pre { background: var(--panel); border-radius: 6px; padding: 8px 12px; margin: 6px 0; overflow-x: auto;
  font-size: 13px } pre .number { color: var(--soft); user-select: none;
  display: inline-block; min-width: 4em }
mark { background: var(--hit); color: inherit; border-bottom: 2px solid var(--mark) }
.source { font-family: ui-monospace, monospace; font-size: 13px; font-weight: 600 }
details.rule:target { outline: 2px solid var(--info); outline-offset: 4px; border-radius: 4px }
details > summary { cursor: pointer; margin: 8px 0; font-weight: 600; font-size: 14px }
p.trouble { color: var(--error) }
"""
