import { parseHTML } from 'k6/html';
const doc = parseHTML(`<div id=d data-x=1 data-y='{"a":1}' data-n=007 data-f=1.50 data-t=true data-z=null data-cam-el=q data-big=12345678901234567890 data-e="" data-j="[1," data-neg=-5 data-exp=1e3></div><p id=none></p>
<form id=f><input id=i1 value=v><input id=i2 type=checkbox><input id=i3 type=radio><button id=b1 value=bv>B</button><button id=b2>B2</button><select id=s1><option id=o1 value=1>one<option selected>two</select>
<select id=s2 multiple><option selected>m1<option selected value=q>m2</select><select id=s3></select><select id=s4><option>zz</select><textarea id=t>te</textarea><progress id=p value=3></progress><li id=l value=7>x</li></form>`);
export default function () {
  const d = doc.find('#d');
  for (const name of ['x', 'y', 'n', 'f', 't', 'z', 'camEl', 'cam-el', 'big', 'e', 'j', 'nope', 'neg', 'exp']) {
    console.log(name, typeof d.data(name), JSON.stringify(d.data(name)));
  }
  const all = d.data();
  console.log(Object.keys(all).sort().map((name) => name + '=' + JSON.stringify(all[name])).join());
  console.log(JSON.stringify(doc.find('#none').data()), doc.find('#nope').data(), doc.find('#nope').data('x'), doc.find('#nope').html(), doc.find('#nope').val(), doc.find('#nope').attr('x'));
  for (const id of ['s1', 's2', 's3', 's4', 't', 'o1', 'i1', 'i2', 'i3', 'b1', 'b2', 'p', 'd', 'l']) console.log(id, JSON.stringify(doc.find('#' + id).val()));
}
