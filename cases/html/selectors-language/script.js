import { parseHTML } from 'k6/html';
export default function () {
  const page = parseHTML('<div lang=en-US><p>1<b lang=de>2</b><i lang="">3</i></p></div><p lang=english>4</p><p lang=EN>5</p><p>6</p>');
  for (const selector of [':lang(en)', 'p:lang(en)', 'b:lang(en)', ':lang("en")', ':lang(EN)', ':lang()', ':lang(de)', ':lang(en-US)', ':lang(en,de)', ':lang( en )', ':not(:lang(en))', 'p:lang']) {
    console.log(selector, page.find(selector).size(), page.find(selector).text());
  }
}
