/** What needs a person: why nothing new is made, discrepancies to settle, kills, and what hosts and lists contradict. */
import type { VNode } from 'preact'
import { html, Section, useMayCommand, usePage, useSlice } from '../markup.ts'
import { settleCommand } from '../pageCommands.ts'
import type { Status } from '../pageWire.ts'
import { killLeftText } from '../shownKill.ts'
import { momentText, spanText } from '../shownTimes.ts'
import { texts } from '../texts.ts'

/** One thing: how much it matters, what it is, and what is known of it. */
interface Matter {
  readonly key: string
  readonly tone: 'down' | 'warn'
  readonly title: string
  readonly text: string
  readonly hint?: string
  readonly finding?: Status['findings'][number]
}

const { attention: words } = texts

/** Everything of a status that needs attention, the gravest first. */
function mattersOf(status: Status): readonly Matter[] {
  const sentences = (title: string, tone: Matter['tone'], list: readonly string[]): readonly Matter[] =>
    list.map((text) => ({ key: `${title} ${text}`, tone, title, text }))
  return [
    ...killMatter(status),
    ...status.holds.map(
      ({ scope, cause, state, reason, by, sinceMs, lifts }): Matter => ({
        key: `hold ${scope} ${cause}`,
        tone: state === 'halted' ? 'down' : 'warn',
        title: words.hold(texts.causes[cause], texts.trading[state], scope),
        text: reason,
        hint: `${words.by(by)}, ${texts.since(momentText(sinceMs))}; ${words.lifts[lifts]}`,
      }),
    ),
    ...status.findings.map(
      (found): Matter => ({
        key: found.finding.findingId,
        tone: 'warn',
        title: `${words.finding}: ${found.finding.kind}`,
        text: found.finding.statement,
        hint: texts.since(momentText(found.raisedAtMs)),
        finding: found,
      }),
    ),
    ...status.contradictions.map(
      ({ host, address, statement, sinceMs }): Matter => ({
        key: `${host} ${address}`,
        tone: 'warn',
        title: words.contradiction,
        text: `${host}: ${statement}`,
        hint: texts.since(momentText(sinceMs)),
      }),
    ),
    ...status.openIntents.flatMap(({ intentId, presumedDeadForSeconds }): readonly Matter[] =>
      presumedDeadForSeconds === null
        ? []
        : [
            {
              key: intentId,
              tone: 'down',
              title: `${words.unresolved} ${intentId.slice(0, 8)}`,
              text: texts.orders.presumedDead(spanText(presumedDeadForSeconds * 1_000)),
            },
          ],
    ),
    ...(status.withoutStop ?? []).map(
      ({ marketToken, direction, collateralToken }): Matter => ({
        key: `no stop ${marketToken} ${direction} ${collateralToken}`,
        tone: 'warn',
        title: words.noStop,
        text: words.noStopText(direction, status.symbols[marketToken.toLowerCase()] ?? marketToken),
      }),
    ),
    ...sentences(words.notReady, 'warn', status.notReady),
    ...sentences(words.hidden, 'warn', status.hidden),
    ...sentences(words.unlisted, 'warn', status.unlistedFills),
    ...sentences(words.closed, 'warn', status.closedFills),
    ...status.flattens
      .filter(({ endedAtMs }) => endedAtMs === undefined)
      .map(
        ({ intentId, by, reason, problem }): Matter => ({
          key: `unwind ${intentId}`,
          tone: 'warn',
          title: `${words.unwinding}: ${intentId.slice(0, 8)}`,
          text: `${reason} (${by})${problem === undefined ? '' : `; ${problem}`}`,
        }),
      ),
    ...status.windDowns.map(
      ({ strategy, by, problem }): Matter => ({
        key: `wind down ${strategy}`,
        tone: 'warn',
        title: `${words.windingDown}: ${strategy}`,
        text: problem ?? words.by(by),
      }),
    ),
  ]
}

function killMatter({ kill, positions }: Status): readonly Matter[] {
  if (kill === undefined || kill.endedAtMs !== undefined) return []
  const { problem, waits, by, sinceMs } = kill
  const told = killLeftText(kill, { positions })
  return [
    {
      key: 'kill',
      tone: 'down',
      title: words.kill,
      text: [words.killing(by, told), problem, waits?.until].filter((text) => text !== undefined).join('; '),
      hint: texts.since(momentText(sinceMs)),
    },
  ]
}

function MatterRow({ matter }: { readonly matter: Matter }): VNode {
  const { command } = usePage()
  const mayCommand = useMayCommand()
  const { tone, title, text, hint, finding } = matter
  return html`<li class=${tone}>
    <strong><span aria-hidden="true">${tone === 'down' ? '■' : '▲'}</span> ${title}</strong>
    <span class="text">${text}</span>
    ${hint === undefined ? '' : html`<small class="text">${hint}</small>`}
    ${
      finding === undefined || !mayCommand
        ? ''
        : html`<span class="settle tools">
            <button onClick=${() => command(settleCommand(finding, 'adopted'))}>${words.adopt}</button>
            <button onClick=${() => command(settleCommand(finding, 'ignored'))}>${words.ignore}</button>
          </span>`
    }
  </li>`
}

/** The list; a line that says so where it is empty. */
export function AttentionView(): VNode | null {
  const status = useSlice((state) => state.status)
  if (status === undefined) return null
  const matters = mattersOf(status)
  if (matters.length === 0) {
    return html`<p class="calm"><span aria-hidden="true">✓</span> ${words.none}</p>`
  }
  return html`<${Section} id="attention" title=${texts.sections.attention} count=${String(matters.length)}>
    <ul class="matters">
      ${matters.map((matter) => html`<${MatterRow} key=${matter.key} matter=${matter} />`)}
    </ul>
  <//>`
}
