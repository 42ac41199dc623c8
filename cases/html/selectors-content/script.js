import { parseHTML } from 'k6/html';
const doc = parseHTML('<p id=1>Hello <b id=2>World</b></p><p id=3></p><p id=4> </p><p id=5><!--c--></p><input id=6 checked type=checkbox><input id=7 disabled><select id=8><option id=9 selected>x</select><button id=10>go</button><textarea id=11></textarea><a id=12 href=x>l</a><a id=13>m</a><fieldset id=14 disabled><input id=15></fieldset><h1 id=16>t</h1>');
export default function () {
  for (const selector of [':empty', 'p:contains("Hello")', ':contains(World)', 'p:containsOwn("World")', ':has(b)', 'p:not(:empty)', ':checked', ':disabled', ':enabled', ':input', ':link', 'p:matches("^H")', 'p:matchesOwn(lo)', ':not(p, b, input)', ':header', ':button', ':haschild(b)', 'option:selected', ':visible', 'p:first', 'p:eq(1)', ':is(p, b)', ':where(b)']) {
    console.log(selector, doc.find('body').find(selector).map((i, e) => e.attr('id')).join());
  }
}
