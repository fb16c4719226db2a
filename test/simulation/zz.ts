import { runFileMutants, mutantTable } from './mutantRuns.ts'
console.log(mutantTable(await runFileMutants(1500)))
