"""The forms about people: joining, signing in, the account, inviting."""

from typing import Any

from allauth.account.forms import ChangePasswordForm, LoginForm
from django import forms
from django.contrib.auth.password_validation import (
    MinimumLengthValidator,
    get_default_password_validators,
    validate_password,
)

from batchui.teams.models import Role, User


def _shortest_password() -> int:
    """The shortest length that the settings allow."""
    return max(
        (
            validator.min_length
            for validator in get_default_password_validators()
            if isinstance(validator, MinimumLengthValidator)
        ),
        default=1,
    )


class NewPasswordField(forms.CharField):
    """A new password. It is typed once, because the page can show it."""

    def __init__(self) -> None:
        super().__init__(
            strip=False,
            max_length=200,
            help_text=f"At least {_shortest_password()} characters, and not a common password.",
            widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
            error_messages={"required": "Choose a password."},
        )


class PasswordForm(forms.Form):
    """Choose a password. It must not resemble the name or address of `person`."""

    password = NewPasswordField()

    def __init__(self, *args: object, person: User | None = None, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.person = person
        next(iter(self.fields.values())).widget.attrs["autofocus"] = True

    def clean(self) -> None:
        super().clean()
        password = self.cleaned_data.get("password")
        if not password:
            return
        try:
            validate_password(password, user=self.person or self.person_described())
        except forms.ValidationError as problem:
            self.add_error("password", problem)

    def person_described(self) -> User | None:
        """The person that this form describes, for checking the password against them."""
        return None


class NameForm(forms.Form):
    """A person's name."""

    name = forms.CharField(
        label="Your name",
        max_length=80,
        help_text="Your colleagues see it beside the batches you start.",
        widget=forms.TextInput(attrs={"autocomplete": "name"}),
        error_messages={"required": "Write your name."},
    )


class JoinForm(NameForm, PasswordForm):
    """Join a team by an invitation."""

    email = forms.EmailField(
        label="E-mail address",
        max_length=254,
        help_text="You sign in with it. batchui sends no e-mail.",
        widget=forms.EmailInput(attrs={"autocomplete": "username"}),
        error_messages={
            "required": "Write your e-mail address.",
            "invalid": "This is not an e-mail address. It looks like name@example.com.",
        },
    )
    field_order = ["name", "email", "password"]

    def clean_email(self) -> str:
        email: str = self.cleaned_data["email"]
        return email.lower()

    def person_described(self) -> User | None:
        return User(
            name=self.cleaned_data.get("name", ""), email=self.cleaned_data.get("email", "")
        )


class SetUpForm(JoinForm):
    """Set batchui up: the first administrator and the team."""

    team_name = forms.CharField(
        label="Name of your team",
        max_length=80,
        help_text="For example your department. Everybody in the team sees all its batches.",
        widget=forms.TextInput(attrs={"autocomplete": "organization"}),
        error_messages={"required": "Give your team a name."},
    )
    field_order = ["name", "email", "password", "team_name"]


class InviteForm(forms.Form):
    """The role of a colleague to invite."""

    role = forms.ChoiceField(
        label="What may your colleague do?",
        choices=[
            (Role.MEMBER.value, "Member: starts batches and sees those of the team"),
            (Role.ADMIN.value, "Administrator: also invites and removes people"),
        ],
        initial=Role.MEMBER.value,
        widget=forms.RadioSelect,
    )

    def clean_role(self) -> Role:
        return Role(self.cleaned_data["role"])


class SpendingForm(forms.Form):
    """Above which price Start asks once more."""

    confirm_above = forms.FloatField(
        label="Ask once more before a batch that may cost more than",
        help_text="In US dollars. Leave it empty to be never asked; 0 asks before every batch that "
        "is not free.",
        required=False,
        min_value=0,
        max_value=1_000_000,
        error_messages={
            "invalid": "Write an amount, such as 5 or 12.50.",
            "min_value": "Write 0 or more.",
            "max_value": "Write 1,000,000 or less.",
        },
    )


class SignInForm(LoginForm):  # type: ignore[misc]
    """allauth's form, with the words of this product."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        login, password = self.fields["login"], self.fields["password"]
        login.label = "E-mail address"
        login.widget.attrs["autofocus"] = True
        login.error_messages["required"] = "Write your e-mail address."
        password.error_messages["required"] = "Write your password."
        for field in (login, password):
            field.widget.attrs.pop("placeholder", None)


class NewPasswordForm(ChangePasswordForm):  # type: ignore[misc]
    """allauth's form, with the words of this product."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        labels = {
            "oldpassword": "Current password",
            "password1": "New password",
            "password2": "New password, again",
        }
        for name, label in labels.items():
            field = self.fields[name]
            field.label = label
            field.error_messages["required"] = f"Write the {label.lower()}."
            field.widget.attrs.pop("placeholder", None)
        self.fields["password1"].help_text = NewPasswordField().help_text

    def clean(self) -> dict[str, Any]:
        """Say in the words of this product that the two passwords differ."""
        cleaned: dict[str, Any] = super().clean()
        first, second = cleaned.get("password1"), self.data.get("password2")
        if first and second and first != second:
            self.errors.pop("password2", None)
            self.add_error("password2", "The two new passwords differ. Write the same one twice.")
        return cleaned
