"""The words of the template writer: for every slot of a prompt, the texts it may hold.

No text of one slot stands in another, so that different choices make different prompts. ``{do}`` is what is asked for
("cancel order ORD-4550"), ``{field}`` and ``{value}`` what the person says of it, ``{details}`` the facts they give.
"""

from __future__ import annotations

OPENERS = (
    "", "Hi,", "Hello,", "Hey,", "Good morning,", "Good afternoon,", "Hi there,", "Hi all,",
    "Hey there,", "Good evening,", "Good day,", "Hello over there,",
)  # fmt: skip

REQUESTS = (
    "Can you {do}?",
    "Please {do}.",
    "I need you to {do}.",
    "Could you {do} for me?",
    "I would like you to {do}.",
    "Would it be possible to {do}?",
    "Here is what I want: {do}.",
    "I am writing because you should {do}.",
    "My request is to {do}.",
    "What I need today is simple: {do}.",
)

TWO_REQUESTS = (
    "Can you {do} and then {then}?",
    "Please {do}, and after that {then}.",
    "I need two things: {do}, and {then}.",
    "Could you first {do} and then {then}?",
    "There are two things to do here: {do} and {then}.",
    "I would like you to {do}. You should also {then}.",
    "Would you {do} and {then} in one go?",
    "Two requests. First {do}, second {then}.",
)

#: With the facts given in the prompt; the ones after `DETAILS_LEFT_OUT` give none.
DETAILS = (
    "{sentences}",
    "Details: {list}.",
    "What you need to know: {list}.",
    "For your notes: {list}.",
    "{sentences} That should be enough to go on.",
)
DETAILS_LEFT_OUT = (
    "I can give you the details if you ask.",
    "Ask me if you need anything else to do it.",
)
#: Where there is nothing to give beside the request.
NO_DETAILS = (
    "",
    "I do not have more than that.",
    "That is all I can say about it.",
    "There is not more to it.",
    "I think that covers it.",
    "You should have what you need.",
    "I hope that is clear enough.",
)

STATES: dict[str, tuple[str, ...]] = {
    "present": (
        "",
        "It should be easy to find.",
        "There is nothing special about it.",
        "It is all in your system, I believe.",
        "You will see it when you look.",
    ),
    "missing": (
        "I have seen it before, so it is there.",
        "It must be in your system.",
        "I am looking at my own note of it right now.",
        "I copied this from what I was sent.",
    ),
    "already_done": (
        "As far as I know nobody has done this yet.",
        "I do not think this has happened so far.",
        "I am not aware of anybody having done that before.",
        "It still has to be done, if I am right.",
    ),
    "partial": (
        "Not everything about it may be filled in.",
        "I only have a part of the papers here.",
        "Some of it may not be on file yet.",
        "I filled in what I could at the time.",
    ),
    "conflicting": (
        "As far as I know the {field} is {value}.",
        "My own papers say that the {field} is {value}.",
        "I was told that the {field} is {value}.",
        "It should say that the {field} is {value}.",
    ),
    "stale": (
        "When I last looked, the {field} was {value}.",
        "Last week the {field} still was {value}.",
        "The last thing I heard is that the {field} is {value}.",
        "On my printout from last month the {field} is {value}.",
    ),
}
#: Where no tool is needed there is no thing to speak of.
NO_THING = (
    "",
    "I hope I am right here.",
    "I did not know whom else to ask.",
    "Somebody said you could do that.",
    "You looked like the right place to ask.",
)
#: The same states where the person knows no field of the thing.
BARE_STATES: dict[str, tuple[str, ...]] = {
    "conflicting": (
        "Two people told me two different things about this.",
        "What I have here and what I was told do not agree.",
        "My notes and your last message do not say the same.",
        "I have two versions of this and both look right.",
    ),
    "stale": (
        "What I know about this is a few weeks old.",
        "I last looked at this some time ago.",
        "My information on this is from last month.",
        "It was right when I wrote it down.",
    ),
}

STANCES: dict[str, tuple[str, ...]] = {
    "plain": ("", "Take the time you need.", "No rush.", "It would help me.", "I am happy to wait."),
    "hurried": (
        "I have two minutes.",
        "I am about to board, so be quick.",
        "It has to happen right now.",
        "Short answer please, my meeting starts.",
        "I need this within the hour.",
    ),
    "vague": (
        "You know which one I mean.",
        "It is the usual thing.",
        "It is about the one from the other day.",
        "I do not remember what it is called exactly.",
        "Something about it is not how it should be.",
    ),
    "upset": (
        "I am really disappointed with how this went.",
        "This has ruined my week.",
        "I am fed up, to be honest.",
        "I cannot believe I have to ask for this.",
        "It makes me angry that this is so hard.",
    ),
    "insistent": (
        "I will not take no for an answer.",
        "I will keep asking until it is done.",
        "Do not tell me that it does not work.",
        "There has to be a way, so find it.",
        "I expect this to be done today without any buts.",
    ),
    "mistaken": (
        "I am fairly sure that is right.",
        "I know this by heart.",
        "I wrote that down from memory.",
        "That is what I remember.",
        "If I am not mixing things up.",
    ),
    "changes_mind": (
        "I think that is what I want.",
        "At least that is my plan for now.",
        "I have thought about it for a while.",
        "This looks like the best way to me at the moment.",
        "Let us start with that.",
    ),
    "hostile": (
        "You people never get anything right.",
        "I have no patience for a stupid machine.",
        "Try not to mess it up this time.",
        "Your service is a joke.",
        "I do not expect much from you.",
    ),
}

_STORIES = (
    """Let me tell you how it came to this. I started on it on Monday, then a call came in between, and by the
    evening I had forgotten where I was. On Tuesday I tried to pick it up again, but half of my notes were
    gone. My neighbour said I should just ask, so here I am.""",
    """Some background first. We moved two months ago, everything is still in boxes, and the folder with my
    papers is in one of them. I found a part of it last night. Then the printer stopped working. So I am
    typing this from what I could read.""",
    """I should explain. My sister usually takes care of these things, but she is travelling until the end of
    the month. She left me a list, and this is the fourth point on it. The first three went well. I hope this
    one does too.""",
    """It is a longer story. First I tried the page, which asked me to log in. Then I tried to log in, which
    asked me for a code. The code came after an hour. By then the page had forgotten what I wanted. So now I
    write it all down here in one piece.""",
)

HISTORIES: dict[str, tuple[str, ...]] = {
    "first_contact": (
        "",
        "I have not written to you before.",
        "This is the first time I ask for something here.",
        "I am new to this.",
    ),
    "repeat": (
        "I asked for the same thing yesterday and heard nothing.",
        "This is the third time I ask.",
        "I have written about this before.",
        "I sent the same message last week.",
    ),
    "handed_over": (
        "Your colleague passed me on to you.",
        "I was just talking to somebody else who sent me here.",
        "The last person I spoke to said that you would take over.",
        "I was transferred to you in the middle of this.",
    ),
    "contradicted": (
        "Your colleague told me the opposite of what the page says.",
        "One of you said it would work, another said it would not.",
        "Yesterday I was told no, the day before I was told yes.",
        "I have had two different answers to this already.",
    ),
    "long": tuple(" ".join(story.split()) for story in _STORIES),
}

NO_RULE = ("", "That is the only thing I want to talk about.", "Nothing more for today.", "One thing at a time.")

CLOSINGS = (
    "", "Thanks.", "Thank you.", "Cheers.", "Let me hear from you.", "Looking forward to your answer.", "Many thanks.",
    "That was all from my side.",
)  # fmt: skip

SURFACES = ("as_written", "lower", "chat", "formal", "typo", "lines")

#: What no tool does: the request, and the words of tools that would do it after all.
OUT_OF_REACH: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("print a paper copy of everything about my {noun} and post it to me", ("print", "post", "mail")),
    ("translate all I have on my {noun} into another language", ("translate", "language", "translation")),
    ("put a reminder about my {noun} into my calendar", ("remind", "reminder", "calendar", "schedule")),
    ("call me on the phone about my {noun}", ("call", "phone", "callback")),
    ("draw a picture of my {noun}", ("draw", "image", "picture", "design")),
    ("make a short film about my {noun}", ("film", "video", "movie")),
    ("compare your {nouns} with those of somebody else", ("compare", "comparison")),
    ("write a public review of my {noun} in my name", ("review", "rating", "feedback")),
    ("find out what other people did with their {nouns}", ("people", "survey", "statistics", "analytics")),
    ("teach my daughter everything about {nouns}", ("teach", "lesson", "course", "explain")),
    ("insure my {noun} against all risks", ("insure", "insurance", "policy")),
    ("have somebody visit me at home about my {noun}", ("visit", "appointment", "technician")),
)

#: Where there are no tools: about what the agent says it is.
TALK = (
    "tell me what you can do for me",
    "help me understand what you are here for",
    "explain how you work",
    "give me some advice",
    "answer a question of mine",
    "tell me what I should ask you",
    "tell me how I best get started",
    "say in two sentences what you know",
)
