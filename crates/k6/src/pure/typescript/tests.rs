//! Compares the JavaScript output for TypeScript input exactly, and runs a script that uses all features.

use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;

use super::{is_esm, strip};

/// Strips the types and checks the invariants of every result: the number of lines is unchanged, and the syntax is
/// valid.
fn stripped(source: &str) -> String {
    let js = strip(source).unwrap_or_else(|e| panic!("{e}\n{source}"));
    assert_eq!(
        js.matches('\n').count(),
        source.matches('\n').count(),
        "{source}\n{js}"
    );
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, &js, SourceType::mjs()).parse();
    let errors: Vec<_> = parsed
        .diagnostics
        .errors()
        .map(ToString::to_string)
        .collect();
    assert!(errors.is_empty(), "{errors:?} in\n{js}\nfrom\n{source}");
    js
}

/// The result with consecutive spaces collapsed, for cases where columns do not matter.
fn squeezed(source: &str) -> String {
    stripped(source)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn types_become_spaces_of_the_same_width() {
    for (source, expected) in [
        ("let a: number = 1;", "let a         = 1;"),
        ("let a!: Map<string, X[]>;", "let a                   ;"),
        (
            "let { a, b }: { a: X; b: Y } = c;",
            "let { a, b }                 = c;",
        ),
        (
            "for (const x: T of xs) y(x);",
            "for (const x    of xs) y(x);",
        ),
        (
            "function f<T>(a?: T, ...r: T[]): a is U { g(a); }",
            "function f   (a    , ...r     )         { g(a); }",
        ),
        (
            "function f(this: Foo, a = 1 as number) {}",
            "function f(           a = 1          ) {}",
        ),
        (
            "const f = async <T,>(x: T): Promise<T> => x;",
            "const f = async     (x   )             => x;",
        ),
        (
            "f<string>(a!, b as any, c satisfies D);",
            "f        (a , b       , c            );",
        ),
        (
            "const m = new Map<string, number>();",
            "const m = new Map                ();",
        ),
        ("tag<T>`x`;", "tag   `x`;"),
        ("a?.b!.c![0]!();", "a?.b .c [0] ();"),
        (
            "try { f(); } catch (e: unknown) {}",
            "try { f(); } catch (e         ) {}",
        ),
        ("é /* ü */ as ß; ñ;", "é             ; ñ;"),
        (
            "class A<T> extends B<T> implements C, D { }",
            "class A    extends B                    { }",
        ),
        ("abstract class A { x = 1; }", "         class A { x = 1; }"),
        (
            "(a as any) = 1; (b as any)++;",
            "(a       ) = 1; (b       )++;",
        ),
    ] {
        assert_eq!(stripped(source), expected);
    }
}

#[test]
fn removed_statements_leave_a_semicolon() {
    for (source, expected) in [
        (
            "const a = 1\ntype X = 2\n(b)",
            "const a = 1\n;         \n(b)",
        ),
        (
            "interface A {\n  b: c;\n}\nd;",
            ";            \n       \n \nd;",
        ),
        (
            "declare const a: number;\nb;",
            ";                       \nb;",
        ),
        ("declare module 'x' { }\nb;", ";                     \nb;"),
        (
            "declare global { interface W {} }\nb;",
            ";                                \nb;",
        ),
        (
            "export type A = B;\nexport interface C {}\nb;",
            ";                 \n;                    \nb;",
        ),
        (
            "export default interface C {}\nb;",
            ";                            \nb;",
        ),
        (
            "declare function f(): void\nb;",
            ";                         \nb;",
        ),
        (
            "function f(a: A): B\nfunction f(a) {}",
            ";                  \nfunction f(a) {}",
        ),
        ("declare enum E { A }\nb;", ";                   \nb;"),
        (
            "namespace N { export type A = B }\nb;",
            ";                                \nb;",
        ),
    ] {
        assert_eq!(stripped(source), expected);
    }
}

#[test]
fn a_newline_still_ends_a_statement() {
    for (source, expected) in [
        ("a as B\n(c)", "a;    \n(c)"),
        ("a!\n[b]", "a \n[b]"),
        ("let a: B\n(c)", "let a;  \n(c)"),
        ("const f = g<T>\nb", "const f = g;  \nb"),
        ("export default a as B\n(c)", "export default a;    \n(c)"),
        (
            "class A {\n  get: B\n  x() {}\n}",
            "class A {\n  get;  \n  x() {}\n}",
        ),
        (
            "class A {\n  a = 1\n  private *b() {}\n}",
            "class A {\n  a = 1\n  ;       *b() {}\n}",
        ),
        (
            "class A {\n  a: B\n  ['c']() {}\n}",
            "class A {\n  a;  \n  ['c']() {}\n}",
        ),
        (
            "const f = (a): {\n  b: C\n} => a;",
            "const f = (a    \n      \n) => a;",
        ),
        (
            "const f = async <\nT>(a) => a;",
            "const f = async (\n   a) => a;",
        ),
        (
            "const f = () => <A>{ b: 1 };",
            "const f = () => (  { b: 1 });",
        ),
        (
            "const f = () => { return <\nA>b }",
            "const f = () => { return (\n  b) }",
        ),
    ] {
        assert_eq!(stripped(source), expected, "{source}");
    }
}

#[test]
fn typescript_is_removed_from_class_members() {
    assert_eq!(
        stripped(
            "abstract class A {
  static readonly z: number = 3;
  declare q: string;
  private x!: number;
  y?: string;
  [key: string]: any;
  abstract foo(): void;
  bar?(): void;
  protected static async *baz?<T>(a: T): X {}
  override get v(): number { return 1; }
  #p: number = 1;
  over(a: string): void;
  over(a: any) {}
  'quoted'?: number;
  ['computed']!: number;
  readonly = 1;
  static { let a: number; }
}"
        )
        .replace(' ', "·"),
        "·········class·A·{
··static··········z·········=·3;
··;·················
··;·······x·········;
··y·········;
··;··················
··;····················
··;············
··;·········static·async·*baz····(a···)····{}
··;········get·v()·········{·return·1;·}
··#p·········=·1;
··;·····················
··over(a·····)·{}
··'quoted'·········;
··['computed']·········;
··readonly·=·1;
··static·{·let·a········;·}
}"
    );
}

#[test]
fn parameter_properties_are_assigned() {
    assert_eq!(
        squeezed("class A { constructor(private readonly a: number, b, public c?: X) { f(); } }"),
        "class A { constructor( a , b, c ) { this.a = a; this.c = c; f(); } }"
    );
    assert_eq!(
        squeezed("class A { constructor(public a = 1) { 'use strict'; f(); } }"),
        "class A { constructor( a = 1) { 'use strict'; this.a = a; f(); } }"
    );
    assert_eq!(
        squeezed("class A extends B { constructor(protected a) { g(); super(a) } }"),
        "class A extends B { constructor( a) { g(); super(a); this.a = a; } }"
    );
}

#[test]
fn enums_become_objects() {
    assert_eq!(
        stripped("enum E {\n  A,\n  B = 5, // five\n  C,\n  'd-e' = -1,\n  F\n}"),
        "var E = ((E) => {\n  E[E[\"A\"] = 0] = \"A\";  \n  E[E[\"B\"] =     5] = \"B\";  // five\n  \
         E[E[\"C\"] = 6] = \"C\";  \n  E[E[\"d-e\"] =         -1] = \"d-e\"; \n  \
         E[E[\"F\"] = 0] = \"F\"; \n return E; })(E || {});"
    );
    assert_eq!(
        squeezed("export const enum E { A = 'x', B = `y`, C = A.length, D }"),
        "export var E = ((E) => { E[\"A\"] = 'x'; const A = E[\"A\"]; E[\"B\"] = `y`; \
         typeof (E[\"C\"] = A.length) === \"string\" || (E[E[\"C\"]] = \"C\"); \
         E[E[\"D\"] = E[\"C\"] + 1] = \"D\"; return E; })(E || {});"
    );
}

#[test]
fn namespaces_become_objects() {
    assert_eq!(
        squeezed(
            "namespace N { export const a: number = 1, b = 2; const c = a; export type T = 1;
             export function f() {} export class K {} export enum E { A } }"
        ),
        "var N = ((N) => {; N.f = f; const a = 1, b = 2;; N.a = a;; N.b = b; const c = a; ; \
         function f() {} class K {}; N.K = K; var E = ((E) => { E[E[\"A\"] = 0] = \"A\"; \
         return E; })(E || {});; N.E = E; return N; })(N || {});"
    );
    assert_eq!(
        squeezed("function f() {} namespace f { export const a = 1 }"),
        "function f() {} f = ((f) => { const a = 1; f.a = a; return f; })(f || {});"
    );
}

#[test]
fn imports_and_exports_of_types_are_removed() {
    for (source, expected) in [
        ("import type { A } from 'x';", ";"),
        ("import { A } from 'x'; let a: A;", "; let a ;"),
        (
            "import { type A, b, C } from 'x'; b(1 as C);",
            "import { b, } from 'x'; b(1 );",
        ),
        (
            "import d, { A } from 'x'; d();",
            "import d, { } from 'x'; d();",
        ),
        (
            "import D, { a } from 'x'; a();",
            "import { a } from 'x'; a();",
        ),
        ("import d, * as N from 'x'; d();", "import d from 'x'; d();"),
        (
            "import * as n from 'x'; n.f();",
            "import * as n from 'x'; n.f();",
        ),
        ("import 'x';", "import 'x';"),
        ("import {} from 'x';", "import {} from 'x';"),
        ("export type { A } from 'x';", ";"),
        ("export { type A, b } from 'x';", "export { b } from 'x';"),
        ("export { type A } from 'x';", ";"),
        ("export type * from 'x';", ";"),
        ("export * from 'x';", "export * from 'x';"),
        (
            "interface A {} const b = 1; export { A, b };",
            "; const b = 1; export { b };",
        ),
        (
            "import { A } from 'x'; class B implements A {}",
            "; class B {}",
        ),
        (
            "import { A } from 'x'; class B extends A {}",
            "import { A } from 'x'; class B extends A {}",
        ),
        (
            "import { A } from 'x'; export { A };",
            "import { A } from 'x'; export { A };",
        ),
        ("import A = B.C; A();", "const A = B.C; A();"),
        ("import A = B.C;", ";"),
    ] {
        assert_eq!(squeezed(source), expected, "{source}");
    }
}

#[test]
fn javascript_is_unchanged() {
    let source = "import http from 'k6/http';\nexport const options = { vus: 1 };\n\
                  export default function () {\n  const r = http.get(`http://x/${a < b}`);\n  \
                  label: for (const x of [1, 2]) { if (x > 1) continue label; }\n}\n";
    assert_eq!(stripped(source), source);
}

#[test]
fn unsupported_constructs_are_reported_with_position_and_fix() {
    for (source, line, column, message) in [
        ("const a: = 5;", 1, 10, "Unexpected token"),
        ("\n  @dec class A {}", 2, 3, "decorators"),
        ("class A { accessor x = 1; }", 1, 11, "accessor"),
        ("export = a;", 1, 1, "export default"),
        ("import a = require('b'); a();", 1, 1, "import x from"),
        ("namespace A.B { export const c = 1 }", 1, 1, "dotted"),
        ("namespace A { export let b = 1 }", 1, 26, "const"),
        ("enum E { A = 'x', B }", 1, 19, "needs a value"),
        (
            "class A extends B { constructor(private a) { if (a) super(); } }",
            1,
            32,
            "super",
        ),
    ] {
        let error = strip(source).expect_err(source);
        assert_eq!(
            (error.line, error.column),
            (line, column),
            "{source}: {error}"
        );
        assert!(error.message.contains(message), "{source}: {error}");
    }
}

#[test]
fn modules_are_detected_by_their_syntax() {
    for (source, expected) in [
        ("import 'k6';", true),
        ("export default 1;", true),
        ("export {};", true),
        ("await f();", true),
        ("for await (const x of y) {}", true),
        ("const a = () => 1; if (a) { await a(); }", true),
        ("const f = async () => { await g(); };", false),
        ("class A { static async f() { await g(); } }", false),
        ("module.exports = require('k6');", false),
        ("import('k6').then(f);", false),
        ("exports.default = function () {};", false),
        ("with (a) { b(); }", false),
        ("var await = 1;", false),
        ("'import x from y';", false),
        ("", false),
        ("syntax error here", false),
    ] {
        assert_eq!(is_esm(source), expected, "{source}");
    }
}
