/** The fleet that the daemon is a node of: its nodes, and who holds each account. Nothing where there is no fleet. */
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Head, html, Section, useMayCommand, usePage, useSlice } from '../markup.ts'
import { type Answered, NO_ANSWER, read } from '../pageApi.ts'
import { drainCommand, moveCommand } from '../pageCommands.ts'
import type { Fleet } from '../pageWire.ts'
import { momentText, spanText } from '../shownTimes.ts'
import { texts } from '../texts.ts'

const { fleet: words } = texts
/** Between two readings, ms. */
const everyMs = 2_000

const since = (atMs: number | undefined) => (atMs === undefined ? '' : momentText(atMs))

function NodeLine({ node: row }: { readonly node: Fleet['nodes'][number] }): VNode {
  const { command } = usePage()
  const mayCommand = useMayCommand()
  const { node, process, sinceMs, ageMs, isSilent, isDraining, holds } = row
  const state = isSilent ? words.silent : isDraining ? words.drains : words.lives
  return html`<tr>
    <th scope="row" data-label=${words.node}>${node} <small>${process}</small></th>
    <td data-label=${words.state}><span class=${isSilent ? 'down' : isDraining ? 'warn' : ''}>${state}</span></td>
    <td data-label=${words.since}>${since(sinceMs)}</td>
    <td data-label=${words.beat}>${texts.ago(spanText(ageMs))}</td>
    <td class="text" data-label=${words.holds}>${holds.map(({ account }) => account).join(', ') || words.nothing}</td>
    <td class="tools">${mayCommand ? html`<button type="button" aria-label=${words.drainLabel(isDraining, node)} onClick=${() => command(drainCommand(node, isDraining))}>${isDraining ? words.endDrain : words.drain}</button>` : ''}</td>
  </tr>`
}

function AccountLine({ account }: { readonly account: Fleet['accounts'][number] }): VNode {
  const { command } = usePage()
  const mayCommand = useMayCommand()
  const { name, node, holder, epoch, isListed, sinceMs, waiting, wish } = account
  const waits = [...waiting, ...(wish === undefined || wish === node ? [] : [words.wished(wish)])].join(', ')
  return html`<tr>
    <th scope="row" data-label=${texts.account.label}>${name}</th>
    <td data-label=${words.holder}>${holder !== '' ? (node ?? holder) : isListed ? html`<strong class="down">${words.nobody}</strong>` : words.unlisted}</td>
    <td class="num" data-label=${words.epoch}>${epoch}</td>
    <td data-label=${words.since}>${since(sinceMs)}</td>
    <td class="text" data-label=${words.waiting}>${waits || words.nobody}</td>
    <td class="tools">${mayCommand ? html`<button type="button" aria-label=${words.moveLabel(name)} onClick=${() => command(moveCommand(account))}>${words.move}</button>` : ''}</td>
  </tr>`
}

/** The section. It is read anew while its page is open and seen. */
export function FleetView(): VNode | null {
  const hasAccounts = useSlice(({ accounts }) => accounts.length > 0)
  const [answer, setAnswer] = useState<Answered<Fleet | null> | undefined>(undefined)
  const [fleet, setFleet] = useState<Fleet | null>(null)
  const isNone = answer?.ok === true && answer.value === null
  useEffect(() => {
    if (!hasAccounts || isNone) return undefined
    let isLeft = false
    const load = async () => {
      if (document.visibilityState !== 'visible') return
      const next = await read<Fleet | null>('/api/fleet')
      if (isLeft) return
      setAnswer(next)
      if (next.ok) setFleet(next.value)
    }
    void load()
    const timer = setInterval(load, everyMs)
    return () => {
      isLeft = true
      clearInterval(timer)
    }
  }, [hasAccounts, isNone])
  if (answer === undefined || isNone) return null
  const problem = answer.ok
    ? ''
    : answer.code === NO_ANSWER
      ? texts.noAnswer
      : `${answer.code}: ${answer.message}`
  return html`<${Section} id="fleet" title=${texts.sections.fleet}>
    ${problem === '' ? '' : html`<p class="problem" role="alert">${problem}</p>`}
    ${
      fleet === null
        ? ''
        : html`<div class="scroll"><table>
            <${Head} titles=${[words.node, words.state, words.since, words.beat, words.holds, '']} figures=${[]} />
            <tbody>${fleet.nodes.map((node) => html`<${NodeLine} key=${node.node} node=${node} />`)}</tbody>
          </table></div>
          <div class="scroll"><table>
            <${Head} titles=${[texts.account.label, words.holder, words.epoch, words.since, words.waiting, '']} figures=${[words.epoch]} />
            <tbody>${fleet.accounts.map((account) => html`<${AccountLine} key=${account.name} account=${account} />`)}</tbody>
          </table></div>
          <p class="muted">${words.servers(fleet.servers)}</p>`
    }
  <//>`
}
