import { parseHTML } from 'k6/html';
const page = parseHTML('<ul><li class=a>x</li><li>y</li></ul>');
export default function () {
  const { find, text } = page;
  console.log(find('li').size(), text());
  const copy = { ...find('li') };
  console.log(copy.size(), copy.text(), copy.first().text(), copy.eq(1).text(), copy.map((at, item) => `${at}${typeof item.text}`).join());
  const items = Object.assign({}, page.find('li'));
  console.log(items.is('.a'), items.attr('class'), items.toArray().length, items.last().text());
  console.log(Object.create(page).find('.a').text(), ['li', '.a'].map((each) => page.find(each).size()).join());
}
