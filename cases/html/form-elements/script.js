import { parseHTML } from 'k6/html';
const doc = parseHTML('<form id=f action=a?b=c><input id=1><p><button id=2></button><select id=3></select></p><fieldset id=4><textarea id=5></textarea></fieldset><input type=image id=6><output id=7></output><object id=8></object></form><input id=9 form=f><input id=10>');
export default function () {
  const form = doc.find('#f').get(0);
  console.log(form.length(), form.elements().map((e) => e.id()).join(), doc.find('#4').get(0).elements().map((e) => e.id()).join());
  for (const id of ['1', '2', '5', '9', '10']) { const owner = doc.find(`[id="${id}"]`).get(0).form(); console.log(id, owner === undefined ? 'undefined' : owner === null ? 'null' : owner.id()); }
  console.log(form.action(), form.method(), form.enctype(), form.encoding(), JSON.stringify(form.target()), JSON.stringify(form.name()), form.noValidate());
}
