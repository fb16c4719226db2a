/** Sounds and notifications of this browser: which events have them, and how they are given. */
import { useEffect, useRef } from 'preact/hooks'
import { useSlice } from '../markup.ts'
import { useStream } from '../streamAge.ts'
import { texts } from '../texts.ts'
import { type AlarmEvent, type AlarmMemory, alarmEvents, alarmsOf } from './alarmEvents.ts'

/** Ways to tell of an event. */
export const alarmWays = ['sound', 'notify'] as const
/** One of them. */
export type AlarmWay = (typeof alarmWays)[number]
/** The events of each way. */
type AlarmChoices = Readonly<Record<AlarmWay, readonly AlarmEvent[]>>

const choicesKey = 'perpd.alarms'

/** The choices of this browser; without any, none. */
export function readChoices(): AlarmChoices {
  let kept: Partial<Record<AlarmWay, unknown>> = {}
  try {
    kept = JSON.parse(localStorage.getItem(choicesKey) ?? '{}') ?? {}
  } catch {
    // A text that is no choice is none.
  }
  const eventsOf = (way: AlarmWay) => {
    const named = kept[way]
    return Array.isArray(named) ? alarmEvents.filter((event) => named.includes(event)) : []
  }
  return { sound: eventsOf('sound'), notify: eventsOf('notify') }
}

/** Keeps them. */
export function keepChoices(choices: AlarmChoices): void {
  localStorage.setItem(choicesKey, JSON.stringify(choices))
}

/** Why the browser shows no notifications of this page; undefined: it shows them, or can be asked to. */
export function notifyProblem(): 'insecure' | 'unknown' | 'denied' | undefined {
  if (!isSecureContext) return 'insecure'
  if (typeof Notification === 'undefined') return 'unknown'
  return Notification.permission === 'denied' ? 'denied' : undefined
}

/** Asks the person for the browser's leave where it was not asked yet. Gives why it is not given. */
export async function askToNotify(): Promise<ReturnType<typeof notifyProblem>> {
  const problem = notifyProblem()
  if (problem !== undefined) return problem
  return (await Notification.requestPermission()) === 'granted' ? undefined : 'denied'
}

/** Shows a notification. Gives false where the browser has none for a page: those of a phone often want more than a page. */
export function notify(text: string): boolean {
  try {
    new Notification(texts.title, { body: text, tag: text })
    return true
  } catch {
    return false
  }
}

/** Pitch of each event, Hz: grave ones are low. */
const pitches: Readonly<Record<AlarmEvent, number>> = {
  fill: 880,
  stop: 440,
  liquidation: 330,
  halt: 294,
  lost: 220,
}

let speaker: AudioContext | undefined

/** Plays the sound of an event: a third of a second of one pitch. A file would need more than the page's policy allows. */
export function play(event: AlarmEvent): void {
  speaker ??= new AudioContext()
  void speaker.resume()
  const [tone, volume] = [speaker.createOscillator(), speaker.createGain()]
  const endsAt = speaker.currentTime + 0.35
  tone.frequency.value = pitches[event]
  volume.gain.setValueAtTime(0.2, speaker.currentTime)
  volume.gain.exponentialRampToValueAtTime(0.001, endsAt)
  tone.connect(volume).connect(speaker.destination)
  tone.start()
  tone.stop(endsAt)
}

/** Gives the chosen alarms for as long as it is on the page; it draws nothing. */
export function Alarms(): null {
  const orders = useSlice((state) => state.orders)
  const status = useSlice((state) => state.status)
  const { isOld } = useStream()
  const memory = useRef<AlarmMemory | undefined>(undefined)
  useEffect(() => {
    const seen = alarmsOf(memory.current, { orders, status, isOld })
    memory.current = seen.memory
    if (seen.alarms.length === 0) return
    const choices = readChoices()
    for (const { event, text } of seen.alarms) {
      if (choices.notify.includes(event) && notifyProblem() === undefined) notify(text)
    }
    // One sound of several events at once, the gravest: they stand in that order.
    const heard = alarmEvents.filter(
      (each) => choices.sound.includes(each) && seen.alarms.some(({ event }) => event === each),
    )
    const [gravest] = heard.slice(-1)
    if (gravest !== undefined) play(gravest)
  }, [orders, status, isOld])
  return null
}
