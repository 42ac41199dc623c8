//! TypeScript sources, converted to JavaScript with the same lines and columns.

use plimsoll_k6::pure::typescript::{is_esm, strip};

use super::{Target, text};

pub const TARGET: Target = Target {
    name: "typescript",
    run,
    seeds: &[
        b"import http, { type Response } from 'k6/http';\nexport default function (): void { const r = <Response>http.get(`a${1}`); r!.json() as any; }\n",
        b"interface A<T extends object = {}> { a?: T; readonly b: string }\ntype B = A<B> | keyof A<B>;\ndeclare const c: B;\nexport {};\n",
        b"enum E { A = 1, B = A << 2, C = 'x'.length, D }\nnamespace N { export const a = 1; export namespace M { export function f() { return a; } } }\n",
        b"abstract class C<T> extends D<T> implements I { private x: number = 1; constructor(public a: string, readonly b?: T) { super(); } get y(): T { return this.b!; } static #z?: number; declare w: T }\n",
        b"const f = async <T,>(a: T, ...b: T[]): Promise<T> => { for await (const x of b as T[]) {} return a satisfies T; };\nlet x = a < b > (c);\n",
        b"function isA(this: C, x: unknown): x is A { return /[/]<b>/.test(`${x as string}`); }\nexport type { A } from './a';\nimport type D from 'd';\n",
        b"export const options = { vus: 1 };\nexport default () => {};\n",
    ],
    words: &[
        ": ", "as ", "satisfies ", "<T>", "<T,>", "!", "?:", "?.", "type ", "interface ", "enum ", "declare ", "namespace ",
        "abstract ", "private ", "readonly ", "import type ", "export ", "=> ", "(", ")", "{", "}", "[", "]", "`${", "}`",
        "/", "//", "/*", "*/", "\n", ";", "@a ", "function ", "class ", "async ", "await ", "\u{2028}", "\u{fc}",
    ],
};

fn run(data: &[u8]) {
    let source = text(data);
    is_esm(&source);
    if let Ok(stripped) = strip(&source) {
        // Line numbers in error messages must stay correct.
        assert_eq!(stripped.matches('\n').count(), source.matches('\n').count());
    }
}
