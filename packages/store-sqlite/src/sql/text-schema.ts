/**
 * The words of tasks, for searches by text: only where that was switched on. The index keeps no text, and letters are
 * compared as they are: `wordsOf` has made them alike. `=` begins the mark of a scope, which no word has.
 */
export const textSchema = `
  CREATE VIRTUAL TABLE IF NOT EXISTS task_texts USING fts5(
    words,
    content='',
    contentless_delete=1,
    detail=none,
    tokenize="ascii tokenchars '='"
  );
  CREATE TRIGGER IF NOT EXISTS task_texts_deleted AFTER DELETE ON tasks BEGIN
    DELETE FROM task_texts WHERE rowid = old.id;
  END;
`;
