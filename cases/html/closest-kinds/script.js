import { parseHTML } from 'k6/html';
const doc = parseHTML('<div id=a class=k><div id=b><p id=c class=k><i id=d></i></p></div></div>');
export default function () {
  const id = (s) => s.attr('id');
  const start = doc.find('#d');
  console.log(id(start.closest('.k')), id(start.closest('div')), id(start.closest('i')), id(start.closest('#none')), start.closest('body').size());
  console.log(id(start.closest(doc.find('div'))), id(start.closest(doc.find('#a'))), doc.find('#c, #d').closest('.k').size());
}
