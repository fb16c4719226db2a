/** `perpd report --png`: charts of reports as images, by a renderer that is an optional package. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { chartSvgs } from '../../report/html/chartSvg.ts'
import type { Reported } from '../../report/html/reportPage.ts'

/** The optional package. Its name is a value, so that perpd is checked and runs where it is not installed. */
const RENDERER: string = '@resvg/resvg-js'

/** The part of the renderer that is used. */
interface Renderer {
  readonly Resvg: new (svg: string) => { render(): { asPng(): Uint8Array } }
}

async function renderer(): Promise<Renderer> {
  try {
    return (await import(RENDERER)) as Renderer
  } catch {
    throw new CommandError(
      `Charts become images by the optional package ${RENDERER}, which is not installed.\n  Nothing was written. Install it (npm ci without --omit=optional), or print the page of the report.`,
      exitCodes.configuration,
    )
  }
}

/** Writes the charts of each report into a folder, and gives their paths; of several reports each name begins with its own. */
export async function writeImages(folder: string, reports: readonly Reported[]): Promise<readonly string[]> {
  const { Resvg } = await renderer()
  mkdirSync(folder, { recursive: true })
  return reports.flatMap(({ subject, statistics }) =>
    [...chartSvgs(subject, statistics)].map(([name, svg]) => {
      const own = reports.length > 1 ? `${subject.name.replace(/[^\w.-]+/g, '-')}-${name}` : name
      const path = join(folder, `${own}.png`)
      writeFileSync(path, new Resvg(svg).render().asPng())
      return path
    }),
  )
}
