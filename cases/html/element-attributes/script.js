import { parseHTML } from 'k6/html';
const doc = parseHTML('<p id=a CLASS="b c" data-x=1 checked onclick="f()">x</p><i></i>');
export default function () {
  const attributes = doc.find('p').get(0).attributes();
  for (const name of Object.keys(attributes).sort()) console.log(name, attributes[name].name, JSON.stringify(attributes[name].value), attributes[name].nodeName(), attributes[name].nodeType(), attributes[name].nodeValue(), attributes[name].ownerElement().id());
  console.log(Object.keys(doc.find('i').get(0).attributes()).length, doc.find('i').get(0).hasAttributes(), doc.find('p').get(0).hasAttributes());
}
