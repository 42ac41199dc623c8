import { parseHTML } from 'k6/html';
const doc = parseHTML('<div id=a class="c1  c2" lang=fr title=tt>x<!--cm--><b>y</b>tail</div><div id=b class="c1  c2" lang=fr>x</div><form id=f><button>1</button><p><button>2</button></p></form><script>code()</script>');
const get = (id) => doc.find('#' + id).get(0);
const show = (node) => (node ? node.nodeName() : 'undefined');
export default function () {
  const [a, b, f] = [get('a'), get('b'), get('f')];
  console.log(a.contains(a.lastElementChild()), a.contains(a.firstChild()), a.contains(a), a.contains(b));
  console.log(a.isEqualNode(a), a.isEqualNode(b), b.isEqualNode(parseHTML('<div id=b class="c1  c2" lang=fr>x</div>').find('div').get(0)));
  console.log(a.isSameNode(get('a')), a.isDefaultNamespace(), a.namespaceURI(), a.lang(), f.lang(), f.className(), a.className());
  const title = a.getAttributeNode('title');
  console.log(title.name, title.value, title.localName(), title.prefix(), title.namespaceURI(), a.getAttributeNode('none'));
  console.log(Object.keys(b.attributes()).sort().map((name) => name + '=' + b.attributes()[name].value).join());
  console.log(a.parentNode().getElementsByClassName('c1').map((node) => node.id()).join(), a.parentNode().getElementsByClassName('c1 c2').length, f.getElementsByTagName('button').length, f.getElementsByTagName('*').length);
  console.log(show(a.firstChild().nextSibling()), show(a.lastChild().previousSibling()), show(a.childNodes()[1].nextSibling()));
  console.log(a.childNodes().map((node) => [node.nodeName(), node.nodeType(), node.nodeValue()].join(':')).join());
  console.log(a.ownerDocument().nodeName(), a.ownerDocument().nodeType(), a.ownerDocument().parentNode(), doc.find('script').get(0).text());
}
