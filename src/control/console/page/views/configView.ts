/** Shows what a start of perpd would take: each setting with its source, those first that this run started without. */
import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Head, html, Section, useBounded, usePage } from '../markup.ts'
import { NO_ANSWER, read } from '../pageApi.ts'
import type { Start } from '../pageWire.ts'
import { holds } from '../shownFigures.ts'
import { texts } from '../texts.ts'

const { config: words } = texts
const firstRows = 12

/** A value as it is written: lists with commas, and nothing as a dash. */
function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? words.none : value.map(valueText).join(', ')
  if (value === '' || value === undefined || value === null) return words.none
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function SettingLine({ setting }: { readonly setting: Start['settings'][number] }): VNode {
  const { key, value, origin, running } = setting
  return html`<tr>
    <th scope="row" class="mono" data-label=${words.setting}>${key}</th>
    <td class="text" data-label=${words.value}>
      ${valueText(value)}
      ${
        running === undefined
          ? ''
          : html`<small><strong class="mark warn">${words.taken[running.taken]}</strong> ${words.running(valueText(running.value))}</small>`
      }
    </td>
    <td class="text" data-label=${words.origin}>${origin}</td>
  </tr>`
}

function Settings({ start }: { readonly start: Start }): VNode {
  const [find, setFind] = useState('')
  const { settings, warnings, problems } = start
  const found = settings.filter(({ key, value, origin }) => holds(find, key, valueText(value), origin))
  const changed = found.filter(({ running }) => running !== undefined)
  const rest = found.filter(({ running }) => running === undefined)
  const [shown, more, showMore] = useBounded([...changed, ...rest], firstRows)
  return html`
    ${problems === undefined ? '' : html`<div class="problem" role="alert"><p>${words.wouldNot}</p>${problems.map((problem) => html`<p key=${problem}>${problem}</p>`)}</div>`}
    ${warnings.map((warning) => html`<p key=${warning} class="warn">${warning}</p>`)}
    <p class="muted">${words.counts(changed.length, settings.length)}</p>
    <input type="search" class="find" aria-label=${texts.find} placeholder=${words.findHint}
      onInput=${(event: Event) => setFind((event.currentTarget as HTMLInputElement).value.trim().toLowerCase())} />
    <div class="scroll"><table>
      <${Head} titles=${[words.setting, words.value, words.origin]} figures=${[]} />
      <tbody>${shown.map((setting) => html`<${SettingLine} key=${setting.key} setting=${setting} />`)}</tbody>
    </table></div>
    ${more > 0 ? html`<div class="tools"><button onClick=${showMore}>${texts.more(more)}</button></div>` : ''}`
}

/** The section. The configuration is read when its page opens. */
export function ConfigView(): VNode {
  const { announce } = usePage()
  const [start, setStart] = useState<Start | undefined>(undefined)
  const [problem, setProblem] = useState('')

  async function load(): Promise<void> {
    const answer = await read<Start>('/api/config')
    if (answer.ok) return setStart(answer.value)
    const text = answer.code === NO_ANSWER ? texts.noAnswer : `${answer.code}: ${answer.message}`
    setProblem(text)
    announce(text)
  }

  useEffect(() => void load(), [])
  return html`<${Section} id="config" title=${words.title}>
    ${problem === '' ? '' : html`<p class="problem" role="alert">${problem}</p>`}
    ${start === undefined ? html`<p class="muted">${problem === '' ? texts.loading : ''}</p>` : html`<${Settings} start=${start} />`}
  <//>`
}
