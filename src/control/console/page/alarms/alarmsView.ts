/** Chooses which events this browser sounds or notifies of. */
import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { html, Section } from '../markup.ts'
import { type AlarmEvent, alarmEvents } from './alarmEvents.ts'
import {
  type AlarmWay,
  alarmWays,
  askToNotify,
  keepChoices,
  notify,
  notifyProblem,
  play,
  readChoices,
} from './alarms.ts'
import { alarmTexts as words } from './alarmTexts.ts'

/** The section. */
export function AlarmsView(): VNode {
  const [choices, setChoices] = useState(readChoices)
  const [problem, setProblem] = useState(notifyProblem)

  function keep(way: AlarmWay, event: AlarmEvent, isOn: boolean): void {
    const others = readChoices()
    const next = {
      ...others,
      [way]: [...others[way].filter((each) => each !== event), ...(isOn ? [event] : [])],
    }
    keepChoices(next)
    setChoices(next)
  }

  async function choose(way: AlarmWay, event: AlarmEvent, isOn: boolean): Promise<void> {
    if (isOn && way === 'notify') {
      const refused = await askToNotify()
      setProblem(refused)
      // Drawn anew, the box shows that it is not chosen.
      if (refused !== undefined) return setChoices({ ...readChoices() })
    }
    if (isOn && way === 'sound') play(event)
    keep(way, event, isOn)
  }

  async function tryNotification(): Promise<void> {
    const refused = await askToNotify()
    setProblem(refused ?? (notify(words.tried) ? undefined : 'unknown'))
  }

  const box = (
    way: AlarmWay,
    event: AlarmEvent,
  ) => html`<label class="check"><input type="checkbox" name=${`${way}-${event}`}
      aria-label=${words.label(words[way], words.events[event])}
      checked=${choices[way].includes(event)} disabled=${way === 'notify' && problem !== undefined}
      onChange=${(input: Event) => choose(way, event, (input.currentTarget as HTMLInputElement).checked)} />
    ${words[way]}</label>`
  return html`<${Section} id="alarms" title=${words.title}>
    <p class="muted">${words.hint}</p>
    <ul class="rows">${alarmEvents.map(
      (event) => html`<li key=${event} class="line"><span class="grow">${words.events[event]}</span>
        <span class="tools">${alarmWays.map((way) => html`<span key=${way}>${box(way, event)}</span>`)}</span></li>`,
    )}</ul>
    ${problem === undefined ? '' : html`<p class="warn" role="status">${words.impossible[problem]}</p>`}
    <div class="tools">
      <button type="button" onClick=${() => play('fill')}>${words.trySound}</button>
      <button type="button" disabled=${problem !== undefined} onClick=${tryNotification}>${words.tryNotification}</button>
    </div>
    <p class="muted">${words.soundNote}</p>
  <//>`
}
