/**
 * What was told to people and goes on, in a file beside the journal. It decides nothing, so that one that is lost or broken costs the ends
 * of what ended while perpd was down.
 */
import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { warnOnce } from '../../base/warnOnce.ts'
import type { Log } from '../../monitor/log/log.ts'
import { noticeLevels } from '../../notify/notice.ts'
import { type StoryStore, storyKinds } from '../../notify/openStories.ts'
import { writeWhole } from '../account/subaccountFile.ts'

/** Where a run keeps it; undefined where the journal is kept in memory (no path). */
export function openStories(path: string | undefined, log: Pick<Log, 'note'>): StoryStore | undefined {
  if (path === undefined) return undefined
  return toldStories(path, (text) => log.note('notice.storyLost', 'warn', text))
}

/** Longest file that is believed, characters: a hundred stories take a third of it. */
const MOST_CHARACTERS = 200_000
const kept = z.strictObject({
  version: z.literal(1),
  stories: z
    .array(
      z.strictObject({
        kind: z.enum(storyKinds),
        cause: z.string().max(500),
        level: z.enum(noticeLevels),
        text: z.string().max(300),
      }),
    )
    .max(100),
})

/**
 * The file.
 *
 * @param warn told once for each way in which it goes wrong
 */
export function toldStories(path: string, warn: (text: string) => void): StoryStore {
  const say = warnOnce(path, warn)
  return {
    read() {
      try {
        if (!existsSync(path)) return []
        const text = readFileSync(path, 'utf8')
        if (text.length > MOST_CHARACTERS) throw new RangeError('it is longer than perpd writes it')
        return kept.parse(JSON.parse(text)).stories
      } catch (error) {
        say('what was told before cannot be read, so that its ends are not told', error)
        return []
      }
    },
    keep(stories) {
      try {
        writeWhole(path, `${JSON.stringify({ version: 1, stories })}\n`)
      } catch (error) {
        say('what was told is not kept', error)
      }
    },
  }
}
