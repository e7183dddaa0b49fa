export { readSearch, searchExample, searchProblem, searchWord, type TaskSearch } from './search/language.ts';
export { listTasks, loadListed, printPlace, type RowList, readPages, together } from './search/list-tasks.ts';
export { lookedAt, rowTests } from './search/row-tests.ts';
export { type Assignee, shortText, type TaskRow, taskRows, titleOf } from './search/task-rows.ts';
