import { parseHTML } from 'k6/html';
const page = `<!doctype html><html><head><title>A page</title></head><body>
<h1 id="top" class="a b" data-foo-bar="5" data-x="true" data-j='{"a":1}' data-s="text">Hello <b>bold</b></h1>
<ul><li class=i>1</li><li class="i x">2</li><li>3<span>s</span></li></ul><p>one</p><!-- c --><p>two</p>text<a href="/x?y=1">link</a>
</body></html>`;
const doc = parseHTML(page);
const li = doc.find('li');
const all = {
  title: () => doc.find('title').text(), html: () => doc.find('h1').html(), attr: () => doc.find('h1').attr('id'),
  noAttr: () => doc.find('h1').attr('zz'), defaultAttr: () => doc.find('h1').attr('zz', 'd'), ofNothing: () => doc.find('zz').attr('id'),
  noText: () => doc.find('zz').text(), noHtml: () => doc.find('zz').html(), size: () => li.size(),
  data: () => doc.find('h1').data('foo-bar'), humped: () => doc.find('h1').data('fooBar'), truth: () => doc.find('h1').data('x'),
  json: () => doc.find('h1').data('j').a, allData: () => Object.keys(doc.find('h1').data()).sort().join(), noData: () => doc.find('h1').data('zz'),
  first: () => li.first().text(), last: () => li.last().text(), eq: () => li.eq(1).text(), fromEnd: () => li.eq(-1).text(), beyond: () => li.eq(9).size(),
  slice: () => li.slice(1).size(), part: () => li.slice(0, 2).text(),
  each: () => { let s = ''; li.each((i, e) => { s += i + e.nodeName() + e.textContent(); }); return s; },
  map: () => li.map((i, e) => i + e.text()).join(), filter: () => li.filter((i, e) => i > 0).size(), filterBy: () => li.filter('.i').size(),
  not: () => li.not('.x').text(), is: () => li.is('.x'), isNot: () => li.is('p'), has: () => li.has('span').text(),
  closest: () => doc.find('span').closest('ul').size(), parent: () => doc.find('.x').parent().children().size(), parents: () => doc.find('span').parents().size(),
  parentsUntil: () => doc.find('span').parentsUntil('body').size(), next: () => doc.find('.x').next().text(), nextAll: () => li.first().nextAll().size(),
  nextUntil: () => li.first().nextUntil(':last-child').text(), prev: () => doc.find('.x').prev().text(), prevAll: () => li.last().prevAll().text(),
  prevUntil: () => li.last().prevUntil('.i').size(), siblings: () => doc.find('.x').siblings().text(), children: () => doc.find('ul').children('.i').size(), contents: () => doc.find('h1').contents().size(),
  end: () => doc.find('ul').find('li').end().size(), add: () => doc.find('p').add('h1').size(), index: () => doc.find('.x').index(), indexOf: () => doc.find('.x').index('li'),
  get: () => li.get(1).textContent(), getBeyond: () => li.get(9), toArray: () => li.toArray().length, found: () => doc.find('ul').find(li).size(),
  bad: () => doc.find('li[').size(), missing: () => doc.find(), fragment: () => parseHTML('<p>x').html(), plain: () => parseHTML('just text').text(), number: () => parseHTML(5).text(),
};
for (const s of ['ul > li + li', 'li ~ li', 'li:nth-child(2)', 'li:nth-child(odd)', 'li:first-child', 'li:not(.i)', 'li:has(span)', 'li:contains("3")', 'h1, p', '[data-x=true]',
  '[id^=to][id$=op][id*=o]', '[class~=b]', 'p:empty', 'span:only-child', 'li:nth-last-child(1)', 'p:first-of-type', 'ul *', '#top.a.b']) all[s] = () => doc.find(s).size();
export default function () {
  for (const [name, read] of Object.entries(all)) {
    try { console.log(name, read()); } catch (e) { console.log(name, e.name, e.message); }
  }
}
