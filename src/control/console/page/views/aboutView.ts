/** The program: its version, what it runs on, and the licences of what the page itself is made of. */
import type { VNode } from 'preact'
import { html, Section, useSlice } from '../markup.ts'
import { texts } from '../texts.ts'

const { about: words } = texts

/** The facts. */
export function AboutView(): VNode {
  const status = useSlice((state) => state.status)
  const facts =
    status === undefined
      ? []
      : ([
          [words.version, status.version],
          [words.profile, status.profile],
          [words.chain, status.chain],
        ] as const)
  return html`<${Section} id="about" title=${texts.sections.about}>
    <dl class="facts">${facts.map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <p class="muted">${words.notices}</p>
    <p class="muted">${words.chartNotice} <a href="https://www.tradingview.com/" target="_blank" rel="noopener noreferrer">${words.chartMaker}</a></p>
  <//>`
}
