import { parseHTML } from 'k6/html';
export default function () {
  const element = parseHTML('<div id="a" xml:lang="en" data-x="1">t</div>').find('div').get(0);
  const attribute = element.getAttributeNode('xml:lang');
  console.log(Object.keys(attribute).join(), JSON.stringify(attribute), Object.keys({ ...attribute }).length);
  const listed = []; for (const name in attribute) listed.push(`${name} ${typeof attribute[name]}`);
  console.log(listed.join());
  console.log(attribute.owner_element.id(), attribute.localName(), attribute.prefix(), attribute.namespaceURI(), attribute.name, attribute.value);
  const all = element.attributes();
  for (const name of Object.keys(all).sort()) console.log(name, Object.keys(all[name]).join(), all[name].owner_element.id(), all[name].value);
  const page = parseHTML('<p a:b="1" xml:lang="de"></p><svg xlink:href="q" xmlns:xlink="http://x" viewbox="0" y:z="3"><a xml:space="s"></a></svg>');
  for (const selector of ['p', 'svg', 'a']) {
    const found = page.find(selector).get(0).attributes();
    for (const name of Object.keys(found).sort()) console.log(selector, name, found[name].name, found[name].localName(), found[name].prefix(), found[name].value);
  }
}
