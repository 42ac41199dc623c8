const text = open('./nowhere.txt');
export default function () {}
