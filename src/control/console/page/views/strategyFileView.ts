/** Shows the file of one strategy value by value, when a change of each takes effect, and a form to change it. */
import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { PageCommand } from '../formCommand.ts'
import { Head, html, usePage } from '../markup.ts'
import { NO_ANSWER, read } from '../pageApi.ts'
import { setFieldCommand } from '../pageCommands.ts'
import type { StrategyFile } from '../pageWire.ts'
import { texts } from '../texts.ts'

const { strategyFile: words } = texts

/** A JSON text as a file has it: `long` without its quotes. */
function writtenText(value: string): string {
  return /^"[A-Za-z][\w .-]*"$/.test(value) ? value.slice(1, -1) : value
}

function FieldLine(props: {
  readonly row: StrategyFile['fields'][number]
  readonly onChange: ((field: string, value: string) => void) | undefined
}): VNode {
  const { row, onChange } = props
  const { field, value, takenOver } = row
  return html`<tr>
    <th scope="row" class="mono" data-label=${words.field}>${field}</th>
    <td class="text" data-label=${words.value}>${writtenText(value)}</td>
    <td class="text muted" data-label=${words.takenOver}>${words.when[takenOver]}</td>
    <td class="tools">${
      onChange === undefined || takenOver === 'restart'
        ? ''
        : html`<button aria-label=${words.changeLabel(field)} onClick=${() => onChange(field, writtenText(value))}>${words.change}</button>`
    }</td>
  </tr>`
}

/** The dialog; it is open while there is a name. The file's values are read anew each time. */
export function StrategyFileDialog(props: {
  readonly name: string | undefined
  readonly onEnd: () => void
  /** Absent: the session reads alone. */
  readonly onCommand: ((command: PageCommand) => void) | undefined
}): VNode {
  const { name, onEnd, onCommand } = props
  const { announce } = usePage()
  const dialog = useRef<HTMLDialogElement>(null)
  const [file, setFile] = useState<StrategyFile | undefined>(undefined)
  const [problem, setProblem] = useState('')

  async function load(strategy: string): Promise<void> {
    const answer = await read<StrategyFile>(`/api/strategies/${encodeURIComponent(strategy)}/file`)
    if (answer.ok) return setFile(answer.value)
    const text = answer.code === NO_ANSWER ? texts.noAnswer : `${answer.code}: ${answer.message}`
    setProblem(text)
    announce(text)
  }

  useEffect(() => {
    if (name === undefined) dialog.current?.close()
    else if (dialog.current?.open === false) {
      setFile(undefined)
      setProblem('')
      dialog.current.showModal()
      void load(name)
    }
  }, [name])

  /** The command's own dialog takes the place of this one. */
  function change(field: string, value: string): void {
    if (name === undefined || onCommand === undefined) return
    onEnd()
    onCommand(setFieldCommand(name, field, value))
  }

  const titles = [words.field, words.value, words.takenOver, '']
  return html`<dialog ref=${dialog} class="panel" aria-labelledby="file-title" onClose=${onEnd}>
    <header class="bar">
      <h2 id="file-title">${words.title(name ?? '')}</h2>
      <button onClick=${onEnd}>${texts.close}</button>
    </header>
    ${problem === '' ? '' : html`<p class="problem" role="alert">${problem}</p>`}
    ${
      file === undefined
        ? html`<p class="muted">${problem === '' ? texts.loading : ''}</p>`
        : html`<p class="muted">${words.stands(file.path)}</p>
            <div class="scroll"><table>
              <${Head} titles=${titles} figures=${[]} />
              <tbody>${file.fields.map((row) => html`<${FieldLine} key=${row.field} row=${row} onChange=${onCommand === undefined ? undefined : change} />`)}</tbody>
            </table></div>
            <p class="muted">${words.copies}</p>
            <p class="muted">${words.others}</p>`
    }
  </dialog>`
}
