//! The part of an image that users exchange as a whole.

use std::rc::Rc;

use super::objects::{Modules, say, settings};
use crate::image::{Image, NoImage};
use crate::tests::eval;
use crate::{Context, Runtime};

/// An image with two properties that each user changes.
fn image() -> Result<Image, NoImage> {
    let origin = Image::begin(settings(Rc::new(Modules::default())), Rc::new(()))?;
    origin.enter_with_stack(1 << 20, |context| {
        let global = context.global();
        eval(context, INIT);
        global
            .define_getter("id", context.function("id", 0, id).unwrap())
            .unwrap();
        eval(context, "globalThis.after = 1");
        global.define_hot("id", context.number(0)).unwrap();
        global.define_hot("count", context.undefined()).unwrap();
    });
    Image::freeze(origin)
}

const INIT: &str = "
    globalThis.iterate = (text) => {
        const made = {text, ['own' + text]: text};
        try { null.x } catch (error) { made.error = error.message }
        return Object.keys(made).join() + [...text].map((c) => c + Math.random()).length + JSON.stringify(made);
    }";

fn id<'c>(context: &'c Context, _: &crate::Call<'c>) -> crate::Returned<'c> {
    Ok(context.number(-1))
}

fn set(user: &Runtime, name: &str, value: u64) {
    user.enter(|context| {
        context
            .global()
            .set(name, context.integer(value))
            .ok()
            .unwrap();
    });
}

#[test]
fn a_user_that_only_computes_changes_nothing_else() {
    let image = image().unwrap();
    let users: Vec<_> = (0..3).map(|_| image.start(Rc::new(())).unwrap()).collect();
    for (number, user) in users.iter().enumerate() {
        set(user, "id", number as u64);
    }
    for turn in 0..5 {
        for (number, user) in users.iter().enumerate() {
            set(user, "count", turn);
            let source = format!("iterate('t{turn}') + id + count");
            let said = say(user, &source);
            assert!(said.ends_with(&format!("}}{number}{turn}")), "{said}");
            user.collect_garbage();
        }
    }
    assert_eq!(image.size().written_pages, 0);
    say(&users[0], "iterate.calls = 1");
    assert_ne!(image.size().written_pages, 0);
    assert_eq!(say(&users[1], "typeof iterate.calls"), "undefined");
}

#[test]
fn a_hot_property_is_like_any_other() {
    let image = image().unwrap();
    let user = image.start(Rc::new(())).unwrap();
    let say = |source| say(&user, source);
    let list = "Object.keys(globalThis).slice(-4).join()";
    assert_eq!(say(list), "iterate,id,after,count");
    let describe = "JSON.stringify(Object.getOwnPropertyDescriptor(globalThis, 'id'))";
    let described = r#"{"value":0,"writable":true,"enumerable":true,"configurable":true}"#;
    assert_eq!(say(describe), described);
    assert_eq!(say("id = {a: 1}; id.a += 1; ++id.a + globalThis.id.a"), "6");
    assert_eq!(say("delete globalThis.id; typeof id"), "undefined");
    assert_eq!(
        say("Object.defineProperty(globalThis, 'count', {get: () => 5}); count"),
        "5"
    );
    let other = image.start(Rc::new(())).unwrap();
    assert_eq!(
        super::objects::say(&other, "id + String(count)"),
        "0undefined"
    );
    let freeze = "Object.freeze(globalThis); try { 'use strict'; count = 7 } catch (error) {}; String(count)";
    assert_eq!(super::objects::say(&other, freeze), "undefined");
}

#[test]
fn a_hot_property_of_a_frozen_object_stays() {
    let origin = Image::begin(settings(Rc::new(Modules::default())), Rc::new(())).unwrap();
    origin.enter_with_stack(1 << 20, |context| {
        eval(context, "globalThis.id = 1; Object.freeze(globalThis)");
        let defined = context.global().define_hot("id", context.number(0));
        assert!(defined.is_ok());
        assert_eq!(eval(context, "id"), "1");
    });
}
