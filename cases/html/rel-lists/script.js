import { parseHTML } from 'k6/html';
const doc = parseHTML('<a rel=" a  b a ">1</a><a>2</a><link rel=stylesheet><p class=" x  y x ">3</p><p class="">4</p><i>5</i><td headers="a b">');
export default function () {
  for (const each of doc.find('a, link').toArray()) console.log(JSON.stringify(each.get(0).relList()), JSON.stringify(each.get(0).rel()));
  for (const each of doc.find('p, i').toArray()) console.log(JSON.stringify(each.get(0).classList()), JSON.stringify(each.get(0).className()));
}
