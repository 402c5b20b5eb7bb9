/**
 * The statements of an SQL script, each with the comments before it and without its semicolon. Only what is no part of a statement
 * ends one: semicolons within quotes, dollar quotes and comments do not.
 *
 * https://www.postgresql.org/docs/15/sql-syntax-lexical.html, without what no migration uses: a comment within a
 * comment, `U&`, `BEGIN ATOMIC`, a rule of several statements, an `E''` text that goes on in the next line.
 */
export function statementsOf(script: string): string[] {
  const statements: string[] = [];
  let text = '';
  let isEmpty = true;
  const end = (): void => {
    if (!isEmpty) statements.push(text.trim());
    text = '';
    isEmpty = true;
  };
  for (const [token] of script.matchAll(tokens)) {
    if (token === ';') end();
    else {
      text += token;
      isEmpty &&= /^(--|\/\*|\s)/.test(token);
    }
  }
  end();
  return statements;
}

// A doubled quote ends one text and begins the next: the whole is the same. Words with their digits and dollars are one: the dollars of
// `a$b$` quote nothing, and the `e` of `some'…'` is no prefix.
const tokens =
  /[eE]'(?:[^'\\]|\\[^]|'')*'|[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*|'[^']*'|"[^"]*"|\$([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$[^]*?\$\1\$|--[^\n]*|\/\*[^]*?\*\/|\s+|[^]/g;
